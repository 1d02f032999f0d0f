import Encodings
import Entitlements
import EventLog
import Foundation
import JWTKit
import ModelSupport
import Synchronization
import Testing

@testable import LedgerServer

/// The instant at which these tests begin.
let noon = Instant(milliseconds: 1_790_000_000_000)

extension Instant {
    func plus(seconds: Int64) -> Instant { advanced(byMilliseconds: seconds * 1000) }
}

/// A ledger's directory that holds a key file and nothing else.
struct KeyFolder {
    let path: String
    var file: URL { URL(filePath: path + "/" + KeyFile.name) }

    /// Lends a directory that goes when the body ends.
    static func with(_ body: (KeyFolder) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "access-tests-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(KeyFolder(path: folder.path))
    }

    /// Puts a file in the place of the one that is there, as the command does.
    func write(bytes: [UInt8]) throws {
        try Data(bytes).write(to: file, options: .atomic)
    }

    func write(_ keys: [APIKey]) throws { try write(bytes: KeyFile.holding(keys).bytes) }

    func ring(_ faults: FaultLog = FaultLog()) throws -> KeyRing {
        try KeyRing(ledgerPath: path, at: noon) { faults.add($0) }
    }
}

/// What a key ring told of.
final class FaultLog: Sendable {
    private let faults = Mutex<[InputFault]>([])
    func add(_ fault: InputFault) { faults.withLock { $0.append(fault) } }
    var count: Int { faults.withLock { $0.count } }
}

extension KeyFile {
    static func holding(_ keys: [APIKey]) -> KeyFile {
        var file = KeyFile()
        for key in keys { _ = file.add(key) }
        return file
    }
}

extension APIKey {
    /// A key that a seed repeats.
    static func sample(
        _ seed: UInt64,
        name: String? = nil,
        scopes: ScopeSet = [.read],
        expiresAt: Instant? = nil
    ) -> (key: APIKey, text: String) {
        var random = SplitMix64(seed: seed)
        return make(
            name: name,
            scopes: scopes,
            createdAt: noon,
            expiresAt: expiresAt,
            using: &random
        )
    }
}

/// An issuer of customer tokens: any header and payload, signed as its key signs.
struct TokenIssuer {
    let id: String?
    /// The public key in PEM.
    let pem: String
    private let signer: any JWTAlgorithm

    static func es256(_ id: String? = nil) async throws -> TokenIssuer {
        let key = ES256PrivateKey()
        return TokenIssuer(
            id: id,
            pem: key.publicKey.pemRepresentation,
            signer: try await JWTKeyCollection().add(ecdsa: key).getKey()
        )
    }

    static func edDSA(_ id: String? = nil) async throws -> TokenIssuer {
        let key = try EdDSA.PrivateKey(curve: .ed25519)
        return TokenIssuer(
            id: id,
            pem: key.publicKey.pemRepresentation,
            signer: try await JWTKeyCollection().add(eddsa: key).getKey()
        )
    }

    static func hs256(_ secret: String) async throws -> TokenIssuer {
        let keys = await JWTKeyCollection().add(
            hmac: HMACKey(from: secret),
            digestAlgorithm: .sha256
        )
        return TokenIssuer(id: nil, pem: "", signer: try await keys.getKey())
    }

    /// The header that belongs to the key.
    var header: String {
        let id = id.map { #","kid":"\#($0)""# } ?? ""
        return #"{"alg":"\#(signer.name)","typ":"JWT"\#(id)}"#
    }

    /// A token of this payload, in JSON, with this header or the key's own.
    func token(_ payload: String, header: String? = nil) throws -> String {
        let signed = [header ?? self.header, payload]
            .map { Base64.encode(Array($0.utf8).span, .url) }.joined(separator: ".")
        let signature = [UInt8](try signer.sign(Array(signed.utf8)))
        return signed + "." + Base64.encode(signature.span, .url)
    }

    /// A token for a customer, an hour long.
    func token(for customer: String, from start: Instant = noon) throws -> String {
        let seconds = start.milliseconds / 1000
        return try token(#"{"sub":"\#(customer)","iat":\#(seconds),"exp":\#(seconds + 3600)}"#)
    }
}
