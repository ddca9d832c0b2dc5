// The CRC-32 of two pieces one after the other, from the CRC-32 of each.
//
// A CRC is the remainder of a polynomial over GF(2). To append n bytes multiplies what is before them by x^(8n), and
// adds what they contribute themselves. Polynomials are written as in zlib: the highest bit is the lowest power.

/** RFC 1952 §8. */
const POLYNOMIAL = 0xedb88320;
/** x^0. */
const ONE = 0x8000_0000;
/** x^8: one byte. */
const BYTE = 0x0080_0000;

/** @param bytes the length of the second piece */
export function crc32Combine(first: number, second: number, bytes: number): number {
  return (multiply(first, power(BYTE, bytes)) ^ second) >>> 0;
}

function power(base: number, exponent: number): number {
  let result = ONE;
  let square = base;
  // Not by shifts, which would cut lengths of 4 GiB and more.
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(result, square);
    square = multiply(square, square);
  }
  return result;
}

/** Modulo the polynomial. */
function multiply(a: number, b: number): number {
  let product = 0;
  let multiple = b;
  for (let power = ONE; power > 0; power >>>= 1) {
    if (a & power) product ^= multiple;
    multiple = multiple & 1 ? (multiple >>> 1) ^ POLYNOMIAL : multiple >>> 1;
  }
  return product;
}
