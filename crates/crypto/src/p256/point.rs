//! Points of P-256, and their sums. Not constant-time: for public values alone.

use super::field::Field;

/// The curve's `b` (SP 800-186 section 3.2.1.3).
pub(super) const B: [u64; 4] = [
    0x3bce_3c3e_27d2_604b,
    0x651d_06b0_cc53_b0f6,
    0xb3eb_bd55_7698_86bc,
    0x5ac6_35d8_aa3a_93e7,
];

/// A point that is not the one at infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Affine {
    pub(super) x: Field,
    pub(super) y: Field,
}

impl Affine {
    /// None: a coordinate is not below the field's modulus, or the point is not on the curve.
    pub(super) fn new(x: [u64; 4], y: [u64; 4]) -> Option<Affine> {
        let (x, y, b) = (Field::new(x)?, Field::new(y)?, Field::new(B)?);
        let right = x.square() * x - (x + x + x) + b;
        (y.square() == right).then_some(Affine { x, y })
    }
}

impl std::ops::Neg for Affine {
    type Output = Affine;

    fn neg(self) -> Affine {
        Affine {
            x: self.x,
            y: -self.y,
        }
    }
}

/// A point as `(x / z^2, y / z^3)`; at infinity where `z` is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jacobian {
    pub(super) x: Field,
    pub(super) y: Field,
    pub(super) z: Field,
}

impl From<Affine> for Jacobian {
    fn from(point: Affine) -> Jacobian {
        Jacobian {
            x: point.x,
            y: point.y,
            z: Field::ONE,
        }
    }
}

impl Jacobian {
    pub(super) const INFINITY: Jacobian = Jacobian {
        x: Field::ONE,
        y: Field::ONE,
        z: Field::ZERO,
    };

    pub(super) fn is_infinity(&self) -> bool {
        self.z.is_zero()
    }

    /// Twice the point.
    pub(super) fn double(&self) -> Jacobian {
        // The tangent's slope is `(3 * x^2 + a * z^4) / (2 * y * z)`, and as `a = -3` its upper
        // part is a product. No point of this curve has `y = 0`: its order is odd. So only
        // infinity, which keeps its `z` of 0, is special.
        let zz = self.z.square();
        let product = (self.x - zz) * (self.x + zz);
        let slope = product + product + product;
        let yy = self.y.square().double();
        let xyy = (self.x * yy).double();
        let x = slope.square() - xyy.double();
        Jacobian {
            x,
            y: slope * (xyy - x) - yy.square().double(),
            z: (self.y * self.z).double(),
        }
    }

    /// The sum with another point.
    #[inline]
    pub(super) fn plus(&self, other: &Affine) -> Jacobian {
        if self.is_infinity() {
            return (*other).into();
        }
        let zz = self.z.square();
        let h = other.x * zz - self.x;
        let r = other.y * zz * self.z - self.y;
        if h.is_zero() {
            // The same x: the same point, or its negative.
            return match r.is_zero() {
                true => self.double(),
                false => Jacobian::INFINITY,
            };
        }
        let hh = h.square();
        let hhh = hh * h;
        let v = self.x * hh;
        let x = r.square() - hhh - v.double();
        Jacobian {
            x,
            y: r * (v - x) - self.y * hhh,
            z: self.z * h,
        }
    }
}
