// Unsafe: OpenSSL's context, which one thread at a time has, and pointers to bytes that were lent, each
// for one call inside one closure; the lengths that go with them are those of what was lent.

internal import COpenSSL
import Crypto
import Synchronization

/// AES-256-GCM (NIST SP 800-38D) of bytes where they stand.
///
/// OpenSSL's, with contexts that are kept: swift-crypto's makes one for each message, and three
/// buffers, which for the short messages of a ledger costs several times the sealing.
///
/// Unchecked: whoever took one out of those that are kept has it alone.
@safe
final class Cipher: @unchecked Sendable {
    private let context: OpaquePointer

    /// Bytes of the tag behind the ciphertext.
    static let tagByteCount = 16

    /// OpenSSL was made, or is configured, without this cipher.
    private static let absence = CryptoKitError.underlyingCoreCryptoError(error: 0)

    private static let kept = Mutex<[Cipher]>([])

    /// Contexts that are kept; where more threads seal at once, more are made.
    private static let keptLimit = 16

    private init() throws {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw Self.absence }
        unsafe self.context = unsafe context
        guard unsafe EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, nil, nil) == 1 else {
            throw Self.absence
        }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Lends a context that nobody else has.
    private static func withOne<Outcome>(_ body: (Cipher) -> Outcome) throws -> Outcome {
        let cipher = try kept.withLock { $0.popLast() } ?? Cipher()
        defer {
            kept.withLock { kept in
                if kept.count < keptLimit { kept.append(cipher) }
            }
        }
        return body(cipher)
    }

    /// Seals the end of some bytes: `nonce || plain` from `start` on becomes
    /// `nonce || ciphertext || tag`.
    ///
    /// `first`, and behind it the bytes at `second`: what the sealed part is bound to.
    ///
    /// - Throws: `CryptoKitError`.
    static func seal(
        _ bytes: inout [UInt8],
        from start: Int,
        key: SymmetricKey,
        binding first: Span<UInt8>,
        _ second: Range<Int> = 0..<0
    ) throws {
        let plain = start + SealingNonce.byteCount..<bytes.count
        bytes.append(contentsOf: repeatElement(0, count: tagByteCount))
        let isSealed = try withOne { cipher in
            unsafe first.withUnsafeBufferPointer { first in
                unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                    guard let base = bytes.baseAddress else { return false }
                    let text = unsafe base + plain.lowerBound
                    return unsafe cipher.begin(key, nonce: base + start, isSealing: true)
                        && cipher.bind(first.baseAddress, first.count)
                        && cipher.bind(base + second.lowerBound, second.count)
                        && cipher.pass(text, to: text, plain.count)
                        && cipher.finish(givingTag: base + plain.upperBound)
                }
            }
        }
        guard isSealed else { throw absence }
    }

    /// Opens `nonce || ciphertext || tag`.
    ///
    /// `first`, and behind it `second`: what it is bound to.
    ///
    /// - Returns: nil if key, bytes or what they are bound to are not those.
    /// - Throws: `CryptoKitError`.
    static func open(
        _ sealed: Span<UInt8>,
        key: SymmetricKey,
        binding first: Span<UInt8>,
        _ second: Span<UInt8>
    ) throws -> [UInt8]? {
        let count = sealed.count - Sealing.overhead
        guard count >= 0 else { return nil }
        var plain = [UInt8](repeating: 0, count: count)
        let isOpened = try withOne { cipher in
            unsafe sealed.withUnsafeBufferPointer { sealed in
                guard let nonce = sealed.baseAddress else { return false }
                let text = unsafe nonce + SealingNonce.byteCount
                return unsafe first.withUnsafeBufferPointer { first in
                    unsafe second.withUnsafeBufferPointer { second in
                        unsafe cipher.begin(key, nonce: nonce, isSealing: false)
                            && cipher.bind(first.baseAddress, first.count)
                            && cipher.bind(second.baseAddress, second.count)
                    }
                }
                    && plain.withUnsafeMutableBufferPointer { plain in
                        unsafe cipher.pass(text, to: plain.baseAddress, count)
                    }
                    && cipher.finish(checkingTag: text + count)
            }
        }
        return isOpened ? plain : nil
    }

    // MARK: Steps

    private func begin(
        _ key: SymmetricKey,
        nonce: UnsafePointer<UInt8>,
        isSealing: Bool
    ) -> Bool {
        unsafe key.withUnsafeBytes { key in
            precondition(key.count == StreamKeys.byteCount, "every key of a ledger has 32 bytes")
            let key = unsafe key.assumingMemoryBound(to: UInt8.self).baseAddress
            return unsafe EVP_CipherInit_ex(context, nil, nil, key, nonce, isSealing ? 1 : 0) == 1
        }
    }

    private func bind(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
        unsafe pass(bytes, to: nil, count)
    }

    /// Encrypts or decrypts; without an output the bytes are only bound.
    private func pass(
        _ bytes: UnsafePointer<UInt8>?,
        to output: UnsafeMutablePointer<UInt8>?,
        _ count: Int
    ) -> Bool {
        guard count > 0 else { return true }
        var written: Int32 = 0
        return unsafe EVP_CipherUpdate(context, output, &written, bytes, Int32(count)) == 1
    }

    private func finish(givingTag tag: UnsafeMutablePointer<UInt8>) -> Bool {
        var written: Int32 = 0
        return unsafe EVP_CipherFinal_ex(context, tag, &written) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag)
                == 1
    }

    private func finish(checkingTag tag: UnsafePointer<UInt8>) -> Bool {
        var written: Int32 = 0
        // It reads the tag only, and writes nothing behind the text.
        let given = unsafe UnsafeMutablePointer(mutating: tag)
        var rest: UInt8 = 0
        return unsafe EVP_CIPHER_CTX_ctrl(
            context,
            EVP_CTRL_AEAD_SET_TAG,
            Int32(Self.tagByteCount),
            given
        ) == 1 && EVP_CipherFinal_ex(context, &rest, &written) == 1
    }
}
