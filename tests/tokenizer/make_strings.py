"""Texts that tokenizers disagree about, the same on every run: make_strings(count) -> list of str.

Scripts, emoji joined by ZWJ, digits of many kinds, runs of blanks, code, combining marks, special tokens
written as text, long words, and edge cases. Random code points are those of Unicode 3.2: later letters would
compare the age of the two sides' character tables, not the tokenizers.
"""
import random
import sys
import unicodedata

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>", "<file_sep>", "<empty_output>"]
BLANKS = [" ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n ", "\u00a0", "\u2009", "\u3000", "\u0085",
          "\u180e", "\u200b", "\u2028", "\ufeff", "\v", "\f", "\x1c", "\x1f", "\r"]
WORDS = """the of and to a in is I'm you're they've he'll she'd it's DON'T WE'LL don\u2019t naïve café Straße
 cooperate antidisestablishmentarianism e.g. U.S.A. hello, world! (yes) [no] {maybe} "quote" 'single' 's 't --- ... ?! @user
 #tag $5.00 50% a_b a-b a/b C++ x=y f(x) user@example.com https://example.com/a?b=c&d=e""".split()
NATURAL = [
    "The quick brown fox jumps over the lazy dog.", "Ein schöner Tag, nicht wahr? Größe übermäßig.",
    "Où est la bibliothèque ? L'été, c'est l'été.", "¿Dónde está el baño? ¡Qué niño!",
    "Съешь же ещё этих мягких французских булок.", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "אני יכול לאכול זכוכית וזה לא מזיק לי.", "أنا قادر على أكل الزجاج و هذا لا يؤلمني.",
    "मैं काँच खा सकता हूँ और मुझे उससे कोई चोट नहीं पहुंचती.", "ฉันกินกระจกได้ แต่มันไม่ทำให้ฉันเจ็บ",
    "我能吞下玻璃而不伤身体。今天是2024年5月6日。", "私はガラスを食べられます。それは私を傷つけません。",
    "나는 유리를 먹을 수 있어요. 그래도 아프지 않아요", "Tôi có thể ăn thủy tinh mà không hại gì.",
    "მინას ვჭამ და არა მტკივა.", "Կրնամ ապակի ուտել և ինծի անհանգիստ չըներ։", "እንግዳ ተቀባይ ሰላም",
    "நான் கண்ணாடி சாப்பிடுவேன்", "అనుమతి లేదు", "ಕನ್ನಡ ಭಾಷೆ", "മലയാളം അക്ഷരങ്ങൾ", "ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ", "ཤེལ་སྒོ་ཟ་ནས་",
]
CODE = [
    "def f(x):\n    return x ** 2  # square\n\n\nif __name__ == '__main__':\n\tprint(f(3))\n",
    "#include <cstdio>\nint main() { for (int i = 0; i < 10; ++i) std::printf(\"%d\\n\", i); }\n",
    "SELECT * FROM t WHERE a >= 10 AND b LIKE '%x%';", "{\"key\": [1, 2.5e-3, null, true], \"s\": \"\\u00e9\\n\"}",
    "<div class=\"a\">&nbsp;&amp;</div>", "git commit -m 'x' && make -j8 2>&1 | tee log.txt",
    "let x: Vec<Option<&'a str>> = vec![];", "\\frac{\\alpha}{\\beta} \\to \\infty", "a\t=\t0x1F3_FF;;\r\n",
]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇩🇪", "🇺🇸", "1️⃣", "❤️", "🧑🏿‍🚀", "☺", "🤷‍♀️"]
DIGITS = ["0", "12", "345", "2024", "1234567", "３４", "٣٤", "४५", "½", "²", "Ⅷ", "①", "㊿", "3.14159", "1,000,000",
          "0x1F", "1e-10", "᧚", "𝟘𝟙", "〇"]
MARKS = ["e\u0301", "n\u0303", "a\u0300\u0323", "\u0301", " \u0308", "o\u0302\u0301", "हि", "क्ष", "Å", "ﬁ", "ſ", "ß", "İ", "ǅ"]
EDGES = [
    "", " ", "\n", "\0", "a\0b", "\x04", "\x04\x06", "a\x04b", " \x13", "'", "''s", "'S", "'ſ", "'RE", "\ufffd", "\uffff", "\U0010ffff",
    "\U00050000", "x\u0378y", "\ue000", "<|im_start|", "<|im_start|>>", "<<|im_end|>", "<|im_end|><|im_end|>", " <|im_end|> ",
    "<|IM_END|>", "<|im_start|>user\nHi<|im_end|>\n", "a" * 5000, " " * 3000, "\n" * 1000, "1" * 700, "ab" * 1500,
    "é" * 900, "😀" * 300, "\t \t " * 200, "=" * 999, "word " * 400, "x\u200dy", "\r\r\n\n\r", "  a", "a  ", "a  b", "a   1", "1   a",
]
POOLS = [WORDS, BLANKS, NATURAL, CODE, EMOJI, DIGITS, MARKS, SPECIALS]


def characters():
    """Assigned code points by the first letter of their general category; no surrogates, no private use."""
    groups = {}
    for code in range(0x20000):
        if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs", "Co"):
            groups.setdefault(unicodedata.category(chr(code))[0], []).append(chr(code))
    return groups


def from_blocks(rng, groups):
    """Characters of few blocks, with blanks between."""
    group = groups[rng.choice(sorted(groups))]
    start = rng.randrange(len(group))
    near = group[start:start + 60]
    return "".join(rng.choice(near) if rng.random() < 0.8 else rng.choice(BLANKS) for _ in range(rng.randint(1, 25)))


def from_anywhere(rng, groups):
    """Characters of all categories in equal shares."""
    return "".join(rng.choice(groups[rng.choice(sorted(groups))]) for _ in range(rng.randint(1, 30)))


def from_pools(rng, _groups):
    """Pieces of the lists above, glued with and without blanks."""
    glue = rng.choice(["", " ", "mixed"])
    pieces = []
    for _ in range(rng.randint(1, 12)):
        pieces.append(rng.choice(rng.choice(POOLS)))
        pieces.append(rng.choice(BLANKS) if glue == "mixed" else glue)
    return "".join(pieces)


def from_ascii(rng, _groups):
    """Any ASCII, blanks and apostrophes often."""
    letters = [chr(c) for c in range(128)] + list("    '''sStTmMdDlLvVrReE\n\n\t11223")
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 40)))


def make_strings(count):
    rng = random.Random(20240229)
    groups = characters()
    texts = EDGES + NATURAL + CODE + EMOJI + DIGITS + MARKS + BLANKS + WORDS
    makers = [from_blocks, from_anywhere, from_pools, from_pools, from_ascii]
    while len(texts) < count:
        texts.append(rng.choice(makers)(rng, groups))
    return texts


if __name__ == "__main__":
    for text in make_strings(int(sys.argv[1]) if len(sys.argv) > 1 else 2400):
        print(ascii(text))
