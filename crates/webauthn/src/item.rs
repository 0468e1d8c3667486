//! One CBOR item in front of other bytes.

use signet_cbor::Decoder;

/// Reads one CBOR item at the beginning, and says how many bytes it has.
pub(crate) fn one_item<T>(
    data: &[u8],
    read: impl FnOnce(&mut Decoder<'_>) -> signet_cbor::Result<T>,
) -> signet_cbor::Result<(T, usize)> {
    let mut decoder = Decoder::new(data)?;
    let value = read(&mut decoder)?;
    Ok((value, decoder.position()))
}
