// The order of keys, CUDA C++; used by all kernels of sort except those of a comparator. Parallel source: sort_keys.cl.
//
// K: unsigned integer of a key's size, SIZE bytes; V: of a value's, VALUE_SIZE bytes, 0 for keys alone.
//
// A key is compared, and cut into digits, as the unsigned integer code_of(x): for unsigned keys the key itself, for
// signed ones with the sign inverted, for floats with all other bits of the negative ones inverted as well (IEEE
// totalOrder), and for descending order with all bits inverted. `flip` and `fold` say which; in memory keys do not change.

constexpr bool has_values = VALUE_SIZE != 0;

struct Code {
    K flip;  // bits that are inverted in every key
    K fold;  // and those inverted where the key's top bit is set
};

__device__ __forceinline__ Code make_code(u64 flip, u64 fold) { return {K(flip), K(fold)}; }

__device__ __forceinline__ K code_of(K x, Code code) {
    return x ^ code.flip ^ (K(0 - (x >> (8 * SIZE - 1))) & code.fold);
}

// The key whose code_of() that is.
__device__ __forceinline__ K key_of(K bits, Code code) {
    const K x = bits ^ code.flip;
    return x ^ (K(0 - (x >> (8 * SIZE - 1))) & code.fold);
}

// The digit of a key whose lowest bit is bit `shift`.
__device__ __forceinline__ u32 digit_of(K key, u32 shift, u32 mask, Code code) {
    return u32(code_of(key, code) >> shift) & mask;
}
