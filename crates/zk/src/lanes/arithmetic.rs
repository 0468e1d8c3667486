//! Eight numbers in five registers, one limb of each in every register.
//!
//! Loops here are written by index and without closures: a closure is compiled for these
//! instructions, what calls it in the standard library is not, and the compiler does not always see
//! through that.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use zeroize::Zeroize;

use super::modulus::{LIMBS, Limbs, MASK, Modulus};

type Register = __m512i;

/// Eight numbers of four 64-bit words: one word of each in every register.
pub(super) type Words = [Register; 4];

/// Eight numbers modulo `M`.
pub(super) struct Eight<M>(pub(super) [Register; LIMBS], PhantomData<M>);

impl<M> Clone for Eight<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Eight<M> {}

impl<M> Zeroize for Eight<M> {
    fn zeroize(&mut self) {
        for register in &mut self.0 {
            register.zeroize();
        }
    }
}

/// Eight words as a register.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn register(words: &[u64; 8]) -> Register {
    // SAFETY: both are 64 bytes, and a register may hold every pattern of bits.
    #[allow(unsafe_code, reason = "the standard library has no safe way in")]
    unsafe {
        std::mem::transmute::<[u64; 8], Register>(*words)
    }
}

/// A register as eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn words(register: Register) -> [u64; 8] {
    // SAFETY: both are 64 bytes, and every pattern of bits is eight words.
    #[allow(
        unsafe_code,
        reason = "the standard library has no safe way out of a register"
    )]
    unsafe {
        std::mem::transmute::<Register, [u64; 8]>(register)
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn all(word: u64) -> Register {
    _mm512_set1_epi64(word as i64)
}

/// The lower 52 bits of both together.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn low(a: Register, b: Register) -> Register {
    _mm512_and_si512(_mm512_or_si512(a, b), all(MASK))
}

/// Exchanges rows and columns of eight words by eight.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn transpose(rows: [Register; 8]) -> [Register; 8] {
    let mut pairs = [all(0); 8];
    for i in 0..4 {
        pairs[2 * i] = _mm512_unpacklo_epi64(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm512_unpackhi_epi64(rows[2 * i], rows[2 * i + 1]);
    }
    let mut out = [all(0); 8];
    for odd in 0..2 {
        let (a, b) = (pairs[odd], pairs[odd + 2]);
        let (c, d) = (pairs[odd + 4], pairs[odd + 6]);
        let (even_low, even_high) = (
            _mm512_shuffle_i64x2::<0x88>(a, b),
            _mm512_shuffle_i64x2::<0x88>(c, d),
        );
        let (odd_low, odd_high) = (
            _mm512_shuffle_i64x2::<0xdd>(a, b),
            _mm512_shuffle_i64x2::<0xdd>(c, d),
        );
        out[odd] = _mm512_shuffle_i64x2::<0x88>(even_low, even_high);
        out[odd + 4] = _mm512_shuffle_i64x2::<0xdd>(even_low, even_high);
        out[odd + 2] = _mm512_shuffle_i64x2::<0x88>(odd_low, odd_high);
        out[odd + 6] = _mm512_shuffle_i64x2::<0xdd>(odd_low, odd_high);
    }
    out
}

impl<M: Modulus> Eight<M> {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn of(limbs: [Register; LIMBS]) -> Self {
        Eight(limbs, PhantomData)
    }

    /// One number eight times, from limbs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn constant(limbs: Limbs) -> Self {
        Self::of([
            all(limbs[0]),
            all(limbs[1]),
            all(limbs[2]),
            all(limbs[3]),
            all(limbs[4]),
        ])
    }

    /// From words as they are.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn unpack(w: Words) -> Self {
        let mask = all(MASK);
        Self::of([
            _mm512_and_si512(w[0], mask),
            low(_mm512_srli_epi64::<52>(w[0]), _mm512_slli_epi64::<12>(w[1])),
            low(_mm512_srli_epi64::<40>(w[1]), _mm512_slli_epi64::<24>(w[2])),
            low(_mm512_srli_epi64::<28>(w[2]), _mm512_slli_epi64::<36>(w[3])),
            _mm512_srli_epi64::<16>(w[3]),
        ])
    }

    /// From words in Montgomery form by 2^256, as the portable code has them: times 2^4. Below 16
    /// p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn unpack_portable(w: Words) -> Self {
        let mask = all(MASK);
        Self::of([
            _mm512_and_si512(_mm512_slli_epi64::<4>(w[0]), mask),
            low(_mm512_srli_epi64::<48>(w[0]), _mm512_slli_epi64::<16>(w[1])),
            low(_mm512_srli_epi64::<36>(w[1]), _mm512_slli_epi64::<28>(w[2])),
            low(_mm512_srli_epi64::<24>(w[2]), _mm512_slli_epi64::<40>(w[3])),
            _mm512_srli_epi64::<12>(w[3]),
        ])
    }

    /// As words, for numbers below 2^256.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn pack(self) -> Words {
        let l = self.0;
        [
            _mm512_or_si512(l[0], _mm512_slli_epi64::<52>(l[1])),
            _mm512_or_si512(_mm512_srli_epi64::<12>(l[1]), _mm512_slli_epi64::<40>(l[2])),
            _mm512_or_si512(_mm512_srli_epi64::<24>(l[2]), _mm512_slli_epi64::<28>(l[3])),
            _mm512_or_si512(_mm512_srli_epi64::<36>(l[3]), _mm512_slli_epi64::<16>(l[4])),
        ]
    }

    /// The same numbers with each limb within its 52 bits; limbs may have been negative, the
    /// numbers are not.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn carried(mut self) -> Self {
        for i in 0..LIMBS - 1 {
            self.0[i + 1] = _mm512_add_epi64(self.0[i + 1], _mm512_srai_epi64::<52>(self.0[i]));
            self.0[i] = _mm512_and_si512(self.0[i], all(MASK));
        }
        self
    }

    /// Limb by limb, without carries.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn plus(mut self, other: Self) -> Self {
        for i in 0..LIMBS {
            self.0[i] = _mm512_add_epi64(self.0[i], other.0[i]);
        }
        self
    }

    /// Limb by limb, without carries.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn minus(mut self, other: Self) -> Self {
        for i in 0..LIMBS {
            self.0[i] = _mm512_sub_epi64(self.0[i], other.0[i]);
        }
        self
    }

    /// self - other + 16 p, for `other` below 16 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sub(self, other: Self) -> Self {
        self.plus(Self::constant(M::SIXTEEN)).minus(other).carried()
    }

    /// 16 p - self where the mask is set.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn negated(mut self, mask: u8) -> Self {
        for i in 0..LIMBS {
            self.0[i] = _mm512_mask_sub_epi64(self.0[i], mask, all(M::SIXTEEN[i]), self.0[i]);
        }
        self.carried()
    }

    /// Takes a multiple of p away from a number below 42 p whose carries are not taken: what is
    /// left is below 3.7 p and 2^256.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn reduced(mut self) -> Self {
        let high = _mm512_srai_epi64::<47>(self.0[4]);
        for i in 0..LIMBS {
            let [low, high_half] = &M::MULTIPLES[i];
            let multiple = _mm512_permutex2var_epi64(register(low), high, register(high_half));
            self.0[i] = _mm512_sub_epi64(self.0[i], multiple);
        }
        self.carried()
    }

    /// self + other, below 3.7 p, for a sum below 42 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn add(self, other: Self) -> Self {
        self.plus(other).reduced()
    }

    /// self - other, below 3.7 p: for `self` below 26 p and `other` below 16 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sub_reduced(self, other: Self) -> Self {
        self.plus(Self::constant(M::SIXTEEN)).minus(other).reduced()
    }

    /// self - one - two, below 3.7 p: for `self` below 10 p, the others below 16 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn sub_both(self, one: Self, two: Self) -> Self {
        self.plus(Self::constant(M::THIRTY_TWO))
            .minus(one)
            .minus(two)
            .reduced()
    }

    /// Below 3.7 p, for a number below 42 p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn settled(self) -> Self {
        self.reduced()
    }

    /// self * other / 2^260: below their product over 85 p, plus p.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn mul(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        let mut t = [all(0); 2 * LIMBS];
        for i in 0..LIMBS {
            for j in 0..LIMBS {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], a[i], b[j]);
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a[i], b[j]);
            }
        }
        // Montgomery's reduction, a limb at a time.
        let inverse = all(M::MINUS_INVERSE);
        for i in 0..LIMBS {
            let m = _mm512_madd52lo_epu64(all(0), t[i], inverse);
            for j in 0..LIMBS {
                t[i + j] = _mm512_madd52lo_epu64(t[i + j], m, all(M::P[j]));
                t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], m, all(M::P[j]));
            }
            t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64::<52>(t[i]));
        }
        Self::of([t[5], t[6], t[7], t[8], t[9]]).carried()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn square(self) -> Self {
        self.mul(self)
    }

    /// Lane `order[i]` of each register in place i.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn permuted(mut self, order: Register) -> Self {
        for i in 0..LIMBS {
            self.0[i] = _mm512_permutexvar_epi64(order, self.0[i]);
        }
        self
    }

    /// Lanes of both by `order`: 0 to 7 from the first, 8 to 15 from the second.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) fn chosen(mut self, order: Register, other: Self) -> Self {
        for i in 0..LIMBS {
            self.0[i] = _mm512_permutex2var_epi64(self.0[i], order, other.0[i]);
        }
        self
    }
}
