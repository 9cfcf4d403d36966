# The room of kernels, for ../CMakeLists.txt.
list(APPEND LLM_HEADERS kernels/affine.h kernels/primitives.h)
list(APPEND LLM_SOURCES kernels/affine.cpp kernels/primitives.cpp)
list(APPEND LLM_TESTS kernels/affine_test.cpp)
# -O3 turns plain loops into vectors; contraction allows fused multiply-add; vector arguments are never passed between
# objects, so the note about their calling convention (psabi) says nothing here.
set_source_files_properties(kernels/affine.cpp PROPERTIES COMPILE_OPTIONS "-O3;-ffp-contract=fast;-Wno-psabi")
