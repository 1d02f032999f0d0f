import Encodings
import Entitlements
import LedgerOperations
import ModelSupport
import StoreSimulator
import Stores

/// What anybody may post as the App Store's: a compact JWS, or a body that holds one.
struct CompactJWSTarget: FuzzTarget {
    private let appStore: FuzzedAppStore
    private let mutation: JSONMutation
    /// All that was ever signed: header and payload as text.
    private let signed: Set<[UInt8]>
    private let originals: [[UInt8]]

    private static let dot = UInt8(ascii: ".")

    init(_ appStore: FuzzedAppStore) throws {
        self.appStore = appStore
        let (store, start) = (appStore.store, FuzzedAppStore.start)
        let payloads = [
            store.transactionPayload(start: start), store.renewalPayload(start: start),
            store.notificationPayload("TEST", signedAt: start),
        ]
        originals = try payloads.map { try store.authority.sign($0) }
        mutation = JSONMutation(
            wordsOf: payloads,
            and: .members([
                "alg": .strings(["none", "ES256", "ES384", "HS256", "RS256"]),
                "crit": .strings(["b64"]), "b64": .bool(false), "x5c": .strings([]),
                "kid": "key", "jwk": .object([]),
                "environment": .strings(["Xcode", "LocalTesting"]),
                "receiptType": .strings(["Xcode"]), "receiptCreationDate": .integer(1),
            ])
        )
        // The same in every process, for no signature is a part of it.
        signed = Set(originals.map { Self.signedText($0) })
    }

    func seeds() -> [[UInt8]] {
        let body = JSONValue.members([
            "signedPayload": .string(String(decoding: originals[2], as: UTF8.self))
        ])
        return originals + [Array(body.description.utf8)]
    }

    func run(_ input: [UInt8]) {
        let (verifier, now) = (appStore.verifier, FuzzedAppStore.now)
        let outcome = Blocking.wait {
            await verifier.signal(input, expecting: nil, now: now)
        }
        let local = Blocking.wait {
            await Self.localVerifier.signal(input, expecting: nil, now: now)
        }
        var imported: [AppStoreImport.Outcome] = []
        if let json = try? JSONValue(parsing: input) {
            imported = Blocking.wait {
                await AppStoreImport.outcomes(of: json, verifier: verifier, now: now)
            }
        }
        for case .success(let signal) in [outcome, local] {
            AppStoreMapping.submission(for: signal, body: input)
                .demandLaws(source: Source.appStore, evidence: input)
        }
        if case .success = outcome { demandSigned(input) }
        for case .success(let submission) in imported {
            // Its evidence is the JWS inside.
            let jws = submission.evidence ?? []
            submission.demandLaws(source: Source.appStore, evidence: jws)
            demandSigned(jws)
        }
        guard case .failure(let refusal) = outcome else { return }
        PlantedFault.strike(refusal.path == "header.crit" && input.last == Self.dot)
    }

    private func demandSigned(_ jws: [UInt8]) {
        demand(signed.contains(Self.signedText(jws)), "only what was signed is accepted")
    }

    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        var parts = input.split(separator: Self.dot, omittingEmptySubsequences: false)
        let index = Int.random(in: parts.indices, using: &generator)
        if generator.chance(10) {
            // Parts that are empty, missing or one too many.
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: parts[index] = []
            case 1: parts.remove(at: index)
            default: parts.insert(parts[index], at: index)
            }
            return Array(parts.joined(separator: [Self.dot]))
        }
        guard !generator.chance(33), let part = Base64.decode(Array(parts[index]).span, .url) else {
            return LibFuzzer.mutated(input, upTo: limit)
        }
        let changed =
            index == 0 && generator.chance(50)
            ? withOtherCertificate(part, using: &generator)
            : mutation.mutated(part, upTo: limit, using: &generator)
        parts[index] = Base64.digits(of: changed.span, .url)[...]
        return Array(parts.joined(separator: [Self.dot]))
    }

    /// A header one of whose certificates is changed as bytes.
    private func withOtherCertificate(
        _ header: [UInt8],
        using generator: inout SplitMix64
    ) -> [UInt8] {
        guard let json = try? JSONValue(parsing: header), var chain = json["x5c"]?.array,
            !chain.isEmpty
        else { return header }
        let index = Int.random(in: chain.indices, using: &generator)
        guard let text = chain[index].string,
            let certificate = Base64.decode(text)
        else { return header }
        let changed = LibFuzzer.mutated(certificate, upTo: certificate.count + 16)
        chain[index] = .string(
            String(decoding: Base64.digits(of: changed.span, .standard), as: UTF8.self)
        )
        return Array(json.setting("x5c", .array(chain)).description.utf8)
    }

    private static let localVerifier = LocalTestingVerifier(bundleIDs: ["com.example.app"])

    private static func signedText(_ jws: [UInt8]) -> [UInt8] {
        Array(jws[..<(jws.lastIndex(of: dot) ?? 0)])
    }
}
