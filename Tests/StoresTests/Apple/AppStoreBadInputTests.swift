import Encodings
import Entitlements
import StoreSimulator
import Stores
import Testing

/// A message that must be refused, and the code that it must get.
struct BadMessage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: SignalRefusal.Code?
    let jws: @Sendable () throws -> [UInt8]

    init(
        _ name: String,
        _ code: SignalRefusal.Code?,
        _ jws: @escaping @Sendable () throws -> [UInt8]
    ) {
        testDescription = name
        self.code = code
        self.jws = jws
    }

    static let start = AppStoreSample.start

    /// A good transaction's payload, changed.
    static func payload(_ changes: String = "") throws -> JSONValue {
        try AppStoreSample.store().transactionPayload(
            start: start,
            AppStoreSample.json(changes)
        )
    }

    /// A good payload under another header.
    static func signed(_ form: (SigningAuthority) -> SignedForm) throws -> [UInt8] {
        let authority = try AppStoreSample.authority.get()
        return try authority.sign(Array(payload().description.utf8), as: form(authority))
    }

    /// Any bytes as the payload of a well-signed message.
    static func signed(text: String) throws -> [UInt8] {
        let authority = try AppStoreSample.authority.get()
        return try authority.sign(
            Array(text.utf8),
            as: SignedForm(chain: authority.certificates)
        )
    }

    /// A good message of an authority with a defect, whose root is trusted all the same.
    static func defective(_ change: (inout SigningAuthority.Defects) -> Void) throws -> [UInt8] {
        var defects = SigningAuthority.Defects()
        change(&defects)
        return try AppStoreSample.authority.get()
            .renewed(validity: AppStoreSample.validity, defects: defects)
            .sign(payload())
    }

    /// A message whose bytes are changed after it was signed.
    static func changed(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
        var jws = try AppStoreSample.store().transaction(start: start)
        change(&jws)
        return jws
    }
}

struct `A message that the App Store did not sign for us` {
    static let form: [BadMessage] = [
        BadMessage("nothing at all", .malformed) { [] },
        BadMessage("truncated in its signature", .badSignature) {
            try BadMessage.changed { $0.removeLast(2) }
        },
        BadMessage("truncated in its payload", .malformed) {
            try BadMessage.changed { $0.removeLast(200) }
        },
        BadMessage("oversized", .tooLarge) {
            Array(repeating: UInt8(ascii: "A"), count: AppStoreLimits.jwsBytes + 1)
        },
        BadMessage("of the largest size, and nothing", .malformed) {
            Array(repeating: UInt8(ascii: "."), count: AppStoreLimits.jwsBytes)
        },
        BadMessage("with a gigantic x5c", .tooLarge) {
            try BadMessage.signed { authority in
                SignedForm(chain: [[UInt8]](repeating: authority.root, count: 100))
            }
        },
        BadMessage("with one gigantic certificate", .tooLarge) {
            try BadMessage.signed { authority in
                let big = [UInt8](repeating: 0x30, count: AppStoreLimits.certificateBytes + 3)
                return SignedForm(chain: [big] + authority.certificates[1...])
            }
        },
        BadMessage("with white space before it", .malformed) {
            try BadMessage.changed { $0.insert(0x20, at: 0) }
        },
        BadMessage("with a line feed after it", .malformed) {
            try BadMessage.changed { $0.append(0x0A) }
        },
        BadMessage("padded", .malformed) { try BadMessage.changed { $0.append(0x3D) } },
        BadMessage("with stray bits in its signature", .malformed) {
            // 64 bytes are 86 digits: the last one's four low bits must be zero.
            try BadMessage.changed { $0[$0.count - 1] += 1 }
        },
        BadMessage("of four parts", .malformed) {
            try BadMessage.changed { $0 += Array(".e30".utf8) }
        },
        BadMessage("nested deeply", .malformed) {
            try BadMessage.signed(
                text: String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
            )
        },
        BadMessage("nested deeply within an object", .malformed) {
            let depth = JSONValue.depthLimit + 1
            return try BadMessage.signed(
                text: #"{"a":"# + String(repeating: "[", count: depth)
                    + String(repeating: "]", count: depth) + "}"
            )
        },
        BadMessage("with a name twice", .malformed) {
            try BadMessage.signed(
                text: #"{"bundleId":"com.example.app","bundleId":"com.example.other"}"#
            )
        },
        BadMessage("that is no object", .malformed) { try BadMessage.signed(text: "[]") },
        BadMessage("of invalid UTF-8", .malformed) {
            let authority = try AppStoreSample.authority.get()
            return try authority.sign(
                Array(#"{"a":""#.utf8) + [0xC3, 0x28] + Array(#""}"#.utf8),
                as: SignedForm(chain: authority.certificates)
            )
        },
    ]

    static let signature: [BadMessage] =
        ["HS256", "RS256", "ES384", "es256", "ES256K", ""].map { (name: String) in
            BadMessage("alg \(name)", .wrongAlgorithm) {
                try BadMessage.signed {
                    SignedForm(algorithm: name, chain: $0.certificates)
                }
            }
        } + [
            BadMessage("alg none", .notSigned) {
                try BadMessage.signed { SignedForm(algorithm: "none", chain: $0.certificates) }
            },
            BadMessage("without alg", .wrongAlgorithm) {
                try BadMessage.signed { SignedForm(algorithm: nil, chain: $0.certificates) }
            },
            BadMessage("without certificates", .notSigned) {
                try BadMessage.signed { _ in
                    SignedForm(headerBytes: Array(#"{"alg":"ES256"}"#.utf8))
                }
            },
            BadMessage("with what must be understood", .malformed) {
                try BadMessage.signed {
                    SignedForm(
                        chain: $0.certificates,
                        more: [JSONMember("crit", .strings(["b64"]))]
                    )
                }
            },
            BadMessage("without a signature", .notSigned) {
                try BadMessage.changed { jws in
                    while jws.last != UInt8(ascii: ".") { jws.removeLast() }
                }
            },
            BadMessage("with a signature of zeros", .badSignature) {
                try BadMessage.changed { jws in
                    for index in (jws.count - 86)..<jws.count { jws[index] = UInt8(ascii: "A") }
                }
            },
        ]

    static let chain: [BadMessage] = [
        BadMessage("with two certificates", .badChain) {
            try BadMessage.signed { SignedForm(chain: Array($0.certificates.prefix(2))) }
        },
        BadMessage("with four certificates", .badChain) {
            try BadMessage.signed { SignedForm(chain: $0.certificates + [$0.root]) }
        },
        BadMessage("with leaf and intermediate swapped", .wrongOID) {
            try BadMessage.signed {
                SignedForm(chain: [$0.certificates[1], $0.certificates[0], $0.root])
            }
        },
        BadMessage("with the root first", .untrustedRoot) {
            try BadMessage.signed { SignedForm(chain: $0.certificates.reversed()) }
        },
        BadMessage("with the leaf twice", .wrongOID) {
            try BadMessage.signed {
                SignedForm(chain: [$0.certificates[0], $0.certificates[0], $0.root])
            }
        },
        BadMessage("with the root twice", .wrongOID) {
            try BadMessage.signed { SignedForm(chain: [$0.certificates[0], $0.root, $0.root]) }
        },
        BadMessage("with a third certificate that is none", .badChain) {
            try BadMessage.signed {
                SignedForm(chain: $0.certificates.prefix(2) + [[0x30, 0x03, 0x02, 0x01, 0x00]])
            }
        },
        BadMessage("with bytes after a certificate", .badChain) {
            try BadMessage.signed {
                SignedForm(chain: [$0.certificates[0] + [0]] + $0.certificates[1...])
            }
        },
        BadMessage("by a leaf without its marker", .wrongOID) {
            try BadMessage.defective { $0.leafIsUnmarked = true }
        },
        BadMessage("by an intermediate without its marker", .wrongOID) {
            try BadMessage.defective { $0.intermediateIsUnmarked = true }
        },
        BadMessage("by a leaf that had expired", .expiredCertificate) {
            try BadMessage.defective {
                $0.leafValidity =
                    AppStoreSample.instant(
                        "2025-01-01"
                    )..<BadMessage.start
                    .advanced(byMilliseconds: -1000)
            }
        },
        BadMessage("by a leaf that was not valid yet", .expiredCertificate) {
            try BadMessage.defective {
                $0.leafValidity =
                    BadMessage.start.advanced(
                        byMilliseconds: 1000
                    )..<AppStoreSample.instant(
                        "2028-01-01"
                    )
            }
        },
        BadMessage("by a leaf of another root", .badChain) {
            let other = try SigningAuthority(validity: AppStoreSample.validity)
            let ours = try AppStoreSample.authority.get()
            return try other.sign(
                Array(BadMessage.payload().description.utf8),
                as: SignedForm(chain: other.certificates.prefix(2) + [ours.root])
            )
        },
        BadMessage("by a whole chain of its own", .untrustedRoot) {
            try SigningAuthority(validity: AppStoreSample.validity).sign(BadMessage.payload())
        },
        BadMessage("by a root with Apple's name", .untrustedRoot) {
            var defects = SigningAuthority.Defects()
            defects.rootName = "Apple Root CA - G3"
            return try SigningAuthority(validity: AppStoreSample.validity, defects: defects)
                .sign(BadMessage.payload())
        },
        BadMessage("by another leaf of the same authority", .badSignature) {
            let ours = try AppStoreSample.authority.get()
            return try ours.renewed(validity: AppStoreSample.validity).sign(
                Array(BadMessage.payload().description.utf8),
                as: SignedForm(chain: ours.certificates)
            )
        },
    ]

    static let content: [BadMessage] =
        [
            BadMessage("changed in nothing", nil) { try BadMessage.changed { _ in } },
            BadMessage("for another app", .wrongBundle) {
                try BadMessage.signed(
                    text: BadMessage.payload(#""bundleId":"com.example.other""#).description
                )
            },
            BadMessage("for no app", .wrongBundle) {
                try BadMessage.signed(text: BadMessage.payload(#""bundleId":7"#).description)
            },
        ]
        + ["Xcode", "LocalTesting", "production", "PRODUCTION", ""].map { (word: String) in
            BadMessage("from the environment \(word)", .wrongEnvironment) {
                try BadMessage.signed(
                    text: BadMessage.payload(#""environment":"\#(word)""#).description
                )
            }
        }
        + [
            ("1893456000000", .futureDate), ("1e3000", .outOfRange), ("-1", .outOfRange),
            ("99999999999999999999999999", .outOfRange), ("null", .missingField),
            ("\"1767225600000\"", .outOfRange), ("7258118400000", .futureDate),
        ].map { (date: String, code: SignalRefusal.Code) in
            BadMessage("signed at \(date)", code) {
                try BadMessage.signed(
                    text: BadMessage.payload(#""signedDate":\#(date)"#).description
                )
            }
        }

    // row 7.4, row 7.5
    @Test(arguments: form + signature + chain + content)
    func `is refused with its code`(_ message: BadMessage) async throws {
        let verifier = try AppStoreSample.verifier()
        let outcome = await verifier.transaction(try message.jws(), now: AppStoreSample.now)
        #expect(outcome.refusal == message.code, "\(outcome)")
        if message.code != nil, case .failure(let refusal) = outcome {
            #expect(!refusal.detail.contains("2000000100000001"))
        }
    }

    @Test func `may be signed a little ahead of our clock`() async throws {
        let tolerance = AppStoreConfiguration.defaultFutureToleranceMilliseconds
        let jws = try AppStoreSample.store().transaction(start: AppStoreSample.start)
        let verifier = try AppStoreSample.verifier()
        for (lead, code) in [
            (tolerance, nil), (tolerance + 1, SignalRefusal.Code.futureDate),
        ] {
            let now = AppStoreSample.start.advanced(byMilliseconds: -lead)
            #expect(await verifier.transaction(jws, now: now).refusal == code)
        }
    }

    @Test func `is judged as what it is asked for`() async throws {
        let store = try AppStoreSample.store()
        let verifier = try AppStoreSample.verifier()
        let now = AppStoreSample.now
        let transaction = try store.transaction(start: AppStoreSample.start)
        let renewal = try store.renewalInfo(start: AppStoreSample.start)
        #expect(await verifier.renewalInfo(transaction, now: now).refusal == .invalidValue)
        #expect(await verifier.transaction(renewal, now: now).refusal == .invalidValue)
        #expect(await verifier.notification(transaction, now: now).refusal == .invalidValue)
        #expect(await verifier.appTransaction(transaction, now: now).refusal == .invalidValue)
        #expect(await verifier.renewalInfo(renewal, now: now).refusal == nil)
    }
}
