# The room of text, for ../CMakeLists.txt.
list(APPEND LLM_HEADERS text/byte_level.h text/byte_pairs.h text/chat_template.h text/detokenizer.h
     text/gguf_vocabulary.h text/marked_tokens.h text/pre_tokenizer.h text/stop_strings.h text/template_text.h
     text/tokenizer.h text/tokenizer_tables.h text/vocabulary.h)
list(APPEND LLM_SOURCES text/byte_level.cpp text/byte_pairs.cpp text/chat_template.cpp text/detokenizer.cpp
     text/gguf_vocabulary.cpp text/marked_tokens.cpp text/pre_tokenizer.cpp text/stop_strings.cpp
     text/template_text.cpp text/tokenizer.cpp text/tokenizer_tables.cpp)
list(APPEND LLM_TESTS text/byte_pairs_test.cpp text/chat_template_test.cpp text/detokenizer_test.cpp text/stop_strings_test.cpp
     text/tokenizer_test.cpp)
list(APPEND LLM_FUZZERS text/chat_template_fuzz.cpp text/tokenizer_fuzz.cpp)
list(APPEND LLM_TEST_SUPPORT text/small_vocabulary.h)
