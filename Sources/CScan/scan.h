// The loops over every byte that pay for SIMD, each with a twin in Swift that a test holds it equal to: which of 64
// bytes can end a field's name or its value (`ByteMarks.portable` in GannetHTTP), and how much of a stream holds no
// pair of bytes that is looked for (`PairScanning` in GannetMultipart).
#pragma once
#include <stdint.h>

// Bit i is byte i. `names`: it is no letter, digit or `-`. `controls`: it is a control byte.
typedef struct {
  uint64_t names;
  uint64_t controls;
} gannet_marks;

#if defined(__x86_64__)
#include <immintrin.h>

// SAFETY: reads the 16 bytes at `bytes`, at any alignment, and nothing else.
static inline __attribute__((always_inline)) void gannet_mark_16(const uint8_t *bytes, int shift, gannet_marks *marks) {
  __m128i text = _mm_loadu_si128((const __m128i *)bytes);
  // Comparisons are of signed bytes: what is added puts the last of each range on 127.
  __m128i lower = _mm_or_si128(text, _mm_set1_epi8(0x20));
  __m128i letters = _mm_cmpgt_epi8(_mm_add_epi8(lower, _mm_set1_epi8(127 - 'z')), _mm_set1_epi8(127 - 26));
  __m128i digits = _mm_cmpgt_epi8(_mm_add_epi8(text, _mm_set1_epi8(127 - '9')), _mm_set1_epi8(127 - 10));
  __m128i dashes = _mm_cmpeq_epi8(text, _mm_set1_epi8('-'));
  __m128i plain = _mm_or_si128(_mm_or_si128(letters, digits), dashes);
  __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(0x1F)), text);
  __m128i controls = _mm_or_si128(low, _mm_cmpeq_epi8(text, _mm_set1_epi8(0x7F)));
  marks->names |= (uint64_t)(uint16_t)~_mm_movemask_epi8(plain) << shift;
  marks->controls |= (uint64_t)(uint16_t)_mm_movemask_epi8(controls) << shift;
}

// SAFETY: reads the 64 bytes at `bytes`, at any alignment, and nothing else.
static inline gannet_marks gannet_mark_sse2(const uint8_t *bytes) {
  gannet_marks marks = {0, 0};
  gannet_mark_16(bytes, 0, &marks);
  gannet_mark_16(bytes + 16, 16, &marks);
  gannet_mark_16(bytes + 32, 32, &marks);
  gannet_mark_16(bytes + 48, 48, &marks);
  return marks;
}

// SAFETY: reads the 32 bytes at `bytes`, at any alignment, and nothing else. For processors with AVX2.
static inline __attribute__((always_inline, target("avx2"))) void gannet_mark_32(
    const uint8_t *bytes, int shift, gannet_marks *marks) {
  // A row of ASCII (its upper four bits) is one bit, a column (its lower four) the rows in which that byte counts:
  // bit 7 for the control bytes of rows 0 and 1, the others for letters, digits and `-` in rows 2 to 7. From 0x80 up a
  // shuffle gives 0.
  const __m256i rows = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(-128, -128, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0));
  const __m256i columns = _mm256_broadcastsi128_si256(_mm_setr_epi8(
      -128 + 42, -128 + 62, -128 + 62, -128 + 62, -128 + 62, -128 + 62, -128 + 62, -128 + 62, -128 + 62, -128 + 62,
      -128 + 60, -128 + 20, -128 + 20, -128 + 21, -128 + 20, -128 + 20));
  __m256i text = _mm256_loadu_si256((const __m256i *)bytes);
  __m256i row = _mm256_and_si256(_mm256_srli_epi16(text, 4), _mm256_set1_epi8(0x0F));
  __m256i kind = _mm256_and_si256(_mm256_shuffle_epi8(rows, row), _mm256_shuffle_epi8(columns, text));
  __m256i plain = _mm256_cmpgt_epi8(kind, _mm256_setzero_si256());
  __m256i controls = _mm256_or_si256(kind, _mm256_cmpeq_epi8(text, _mm256_set1_epi8(0x7F)));
  marks->names |= (uint64_t)(uint32_t)~_mm256_movemask_epi8(plain) << shift;
  marks->controls |= (uint64_t)(uint32_t)_mm256_movemask_epi8(controls) << shift;
}

// SAFETY: reads the 64 bytes at `bytes`, at any alignment, and nothing else. For processors with AVX2.
static inline __attribute__((target("avx2"))) gannet_marks gannet_mark_avx2(const uint8_t *bytes) {
  gannet_marks marks = {0, 0};
  gannet_mark_32(bytes, 0, &marks);
  gannet_mark_32(bytes + 32, 32, &marks);
  return marks;
}

// SAFETY: reads the 64 bytes at `bytes`, at any alignment, and nothing else. For processors with AVX-512BW.
static inline __attribute__((target("avx512f,avx512bw"))) gannet_marks gannet_mark_avx512(const uint8_t *bytes) {
  __m512i text = _mm512_loadu_si512(bytes);
  __m512i lower = _mm512_or_si512(text, _mm512_set1_epi8(0x20));
  uint64_t letters = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(lower, _mm512_set1_epi8('a')), _mm512_set1_epi8(26));
  uint64_t digits = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(text, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
  uint64_t dashes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('-'));
  uint64_t low = _mm512_cmplt_epu8_mask(text, _mm512_set1_epi8(0x20));
  uint64_t deletes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(0x7F));
  gannet_marks marks = {~(letters | digits | dashes), low | deletes};
  return marks;
}

static inline int gannet_has_avx512(void) { return __builtin_cpu_supports("avx512bw") != 0; }

static inline int gannet_has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }

static inline __attribute__((target("avx2"))) void gannet_mark_all_avx2(
    const uint8_t *bytes, long blocks, gannet_marks *marks) {
  for (long block = 0; block < blocks; block++) marks[block] = gannet_mark_avx2(bytes + 64 * block);
}

static inline __attribute__((target("avx512f,avx512bw"))) void gannet_mark_all_avx512(
    const uint8_t *bytes, long blocks, gannet_marks *marks) {
  for (long block = 0; block < blocks; block++) marks[block] = gannet_mark_avx512(bytes + 64 * block);
}

// SAFETY: reads 64 bytes a block at `bytes`, at any alignment, and writes the marks of each.
static inline void gannet_mark(const uint8_t *bytes, long blocks, gannet_marks *marks) {
  if (gannet_has_avx512()) return gannet_mark_all_avx512(bytes, blocks, marks);
  if (gannet_has_avx2()) return gannet_mark_all_avx2(bytes, blocks, marks);
  for (long block = 0; block < blocks; block++) marks[block] = gannet_mark_sse2(bytes + 64 * block);
}

// What is searched for, in place of a byte that follows itself: `FF` before what is neither 0 nor a restart marker's code
// (ITU-T T.81 section B.1.1.3).
enum { gannet_markers = -1 };

// SAFETY: reads the 33 bytes at `bytes`, at any alignment, and nothing else. For processors with AVX2.
static inline __attribute__((always_inline, target("avx2"))) __m256i gannet_found_32(const uint8_t *bytes, int wanted) {
  __m256i first = _mm256_loadu_si256((const __m256i *)bytes);
  __m256i second = _mm256_loadu_si256((const __m256i *)(bytes + 1));
  if (wanted == gannet_markers) {
    __m256i restarts = _mm256_cmpeq_epi8(
        _mm256_and_si256(second, _mm256_set1_epi8((char)0xF8)), _mm256_set1_epi8((char)0xD0));
    __m256i data = _mm256_or_si256(_mm256_cmpeq_epi8(second, _mm256_setzero_si256()), restarts);
    return _mm256_andnot_si256(data, _mm256_cmpeq_epi8(first, _mm256_set1_epi8((char)0xFF)));
  }
  __m256i byte = _mm256_set1_epi8((char)wanted);
  return _mm256_and_si256(_mm256_cmpeq_epi8(first, byte), _mm256_cmpeq_epi8(second, byte));
}

// SAFETY: reads `count` bytes at `bytes`, at any alignment, and nothing else. For processors with AVX2.
static inline __attribute__((always_inline, target("avx2"))) long gannet_search_avx2(
    const uint8_t *bytes, long count, int wanted) {
  long place = 0;
  for (; count - place > 128; place += 128) {
    __m256i found = _mm256_setzero_si256();
    for (int lane = 0; lane < 128; lane += 32)
      found = _mm256_or_si256(found, gannet_found_32(bytes + place + lane, wanted));
    if (!_mm256_testz_si256(found, found)) break;
  }
  for (; count - place > 32; place += 32) {
    uint32_t found = (uint32_t)_mm256_movemask_epi8(gannet_found_32(bytes + place, wanted));
    if (found != 0) return place + __builtin_ctz(found);
  }
  return place;
}

// SAFETY: reads the 65 bytes at `bytes`, at any alignment, and nothing else. For processors with AVX-512BW.
static inline __attribute__((always_inline, target("avx512f,avx512bw"))) uint64_t gannet_found_64(
    const uint8_t *bytes, int wanted) {
  __m512i first = _mm512_loadu_si512(bytes), second = _mm512_loadu_si512(bytes + 1);
  if (wanted == gannet_markers) {
    __mmask64 prefixes = _mm512_cmpeq_epi8_mask(first, _mm512_set1_epi8((char)0xFF));
    __mmask64 coded = _mm512_mask_test_epi8_mask(prefixes, second, second);
    __m512i kinds = _mm512_and_si512(second, _mm512_set1_epi8((char)0xF8));
    return _mm512_mask_cmpneq_epi8_mask(coded, kinds, _mm512_set1_epi8((char)0xD0));
  }
  __m512i byte = _mm512_set1_epi8((char)wanted);
  return _mm512_mask_cmpeq_epi8_mask(_mm512_cmpeq_epi8_mask(first, byte), second, byte);
}

// SAFETY: reads `count` bytes at `bytes`, at any alignment, and nothing else. For processors with AVX-512BW.
static inline __attribute__((always_inline, target("avx512f,avx512bw"))) long gannet_search_avx512(
    const uint8_t *bytes, long count, int wanted) {
  long place = 0;
  for (; count - place > 256; place += 256) {
    uint64_t found = 0;
    for (int lane = 0; lane < 256; lane += 64) found |= gannet_found_64(bytes + place + lane, wanted);
    if (found != 0) break;
  }
  for (; count - place > 64; place += 64) {
    uint64_t found = gannet_found_64(bytes + place, wanted);
    if (found != 0) return place + __builtin_ctzll(found);
  }
  return place;
}

static inline __attribute__((target("avx2"))) long gannet_pairless_avx2(const uint8_t *bytes, long count, uint8_t byte) {
  return gannet_search_avx2(bytes, count, byte);
}

static inline __attribute__((target("avx2"))) long gannet_markerless_avx2(const uint8_t *bytes, long count) {
  return gannet_search_avx2(bytes, count, gannet_markers);
}

static inline __attribute__((target("avx512f,avx512bw"))) long gannet_pairless_avx512(
    const uint8_t *bytes, long count, uint8_t byte) {
  return gannet_search_avx512(bytes, count, byte);
}

static inline __attribute__((target("avx512f,avx512bw"))) long gannet_markerless_avx512(const uint8_t *bytes, long count) {
  return gannet_search_avx512(bytes, count, gannet_markers);
}

// So many of the `count` bytes at `bytes` come before the first pair of `byte` and itself, or are known to begin none:
// all but the last 64 at most, or 0 where this processor has no fast way to say.
static inline long gannet_pairless(const uint8_t *bytes, long count, uint8_t byte) {
  if (gannet_has_avx512()) return gannet_pairless_avx512(bytes, count, byte);
  return gannet_has_avx2() ? gannet_pairless_avx2(bytes, count, byte) : 0;
}

// As above, for the pairs that `gannet_markers` says.
static inline long gannet_markerless(const uint8_t *bytes, long count) {
  if (gannet_has_avx512()) return gannet_markerless_avx512(bytes, count);
  return gannet_has_avx2() ? gannet_markerless_avx2(bytes, count) : 0;
}

#elif defined(__aarch64__)
#include <arm_neon.h>

static inline __attribute__((always_inline)) uint64_t gannet_mark_bits(
    uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
  const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t low = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
  uint8x16_t high = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
  low = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

// SAFETY: reads the 64 bytes at `bytes`, at any alignment, and nothing else.
static inline __attribute__((always_inline)) gannet_marks gannet_mark_block(const uint8_t *bytes) {
  uint8x16_t other[4], controls[4];
  for (int part = 0; part < 4; part++) {
    uint8x16_t text = vld1q_u8(bytes + 16 * part);
    uint8x16_t lower = vorrq_u8(text, vdupq_n_u8(0x20));
    uint8x16_t letters = vcltq_u8(vsubq_u8(lower, vdupq_n_u8('a')), vdupq_n_u8(26));
    uint8x16_t digits = vcltq_u8(vsubq_u8(text, vdupq_n_u8('0')), vdupq_n_u8(10));
    uint8x16_t dashes = vceqq_u8(text, vdupq_n_u8('-'));
    other[part] = vmvnq_u8(vorrq_u8(vorrq_u8(letters, digits), dashes));
    controls[part] = vorrq_u8(vcltq_u8(text, vdupq_n_u8(0x20)), vceqq_u8(text, vdupq_n_u8(0x7F)));
  }
  gannet_marks marks = {
      gannet_mark_bits(other[0], other[1], other[2], other[3]),
      gannet_mark_bits(controls[0], controls[1], controls[2], controls[3])};
  return marks;
}

// SAFETY: reads 64 bytes a block at `bytes`, at any alignment, and writes the marks of each.
static inline void gannet_mark(const uint8_t *bytes, long blocks, gannet_marks *marks) {
  for (long block = 0; block < blocks; block++) marks[block] = gannet_mark_block(bytes + 64 * block);
}
#endif
