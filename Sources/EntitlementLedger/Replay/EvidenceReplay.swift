public import Encodings
import Entitlements

/// What judging the evidence of a prefix again came to.
public struct EvidenceReplay: Sendable, Hashable {
    /// Payloads whose signatures held when they were signed.
    public internal(set) var verified = 0
    /// Those whose source signs nothing.
    public internal(set) var unsigned = 0
    /// Those that nobody is configured to judge.
    public internal(set) var unchecked = 0
    /// Those that an erasure has closed.
    public internal(set) var erased = 0
    /// Those that are not their source's word, by their first event; at most `listLimit`.
    public internal(set) var refusals: [Refusal] = []
    /// How many are not.
    public internal(set) var refused = 0

    /// A payload that is not its source's word.
    public struct Refusal: Sendable, Hashable {
        /// Its first event.
        public var sequence: UInt64
        /// Why, a code of a closed set.
        public var code: String
    }

    /// More are counted, not listed.
    static let listLimit = 1000

    mutating func add(_ verdict: EvidenceVerdict, _ sequence: UInt64) {
        switch verdict {
        case .verified: verified += 1
        case .unsigned: unsigned += 1
        case .unchecked: unchecked += 1
        case .refused(let code):
            refused += 1
            if refusals.count < Self.listLimit {
                refusals.append(Refusal(sequence: sequence, code: code))
            }
        }
    }

    /// The counts, then what was refused.
    public var json: JSONValue {
        .members([
            "verified": .integer(verified), "unsigned": .integer(unsigned),
            "unchecked": .integer(unchecked), "erased": .integer(erased),
            "refused": .integer(refused),
            "refusals": .array(
                refusals.map {
                    .members(["sequence": .integer($0.sequence), "code": .string($0.code)])
                }
            ),
        ])
    }
}
