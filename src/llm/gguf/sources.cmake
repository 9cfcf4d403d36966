# The room of model files, for ../CMakeLists.txt.
list(APPEND LLM_HEADERS gguf/blocks.h gguf/byte_cursor.h gguf/ggml_type.h gguf/header_parser.h gguf/reader.h
     gguf/value.h)
list(APPEND LLM_SOURCES gguf/blocks.cpp gguf/byte_cursor.cpp gguf/ggml_type.cpp gguf/metadata_parser.cpp
     gguf/reader.cpp gguf/tensor_table.cpp gguf/typed_values.cpp gguf/value.cpp)
list(APPEND LLM_TESTS gguf/blocks_test.cpp gguf/reader_test.cpp gguf/refusals_test.cpp gguf/tiny_llama_test.cpp
     gguf/smollm2_file_test.cpp)
list(APPEND LLM_TEST_SUPPORT gguf/encode_blocks.cpp gguf/encode_blocks.h gguf/gguf_builder.cpp
     gguf/gguf_builder.h gguf/naive_llama.cpp gguf/naive_llama.h gguf/tiny_llama.cpp gguf/tiny_llama.h)
list(APPEND LLM_FUZZERS gguf/gguf_fuzz.cpp)
