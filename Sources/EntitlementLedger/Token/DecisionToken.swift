import Encodings
package import Entitlements
import EventLog

/// What it takes to ask a question again and to tell whether the answer is the same, byte for byte
/// (row Z11): the prefix of the log, both times, the rules, and a digest of the answer.
///
/// It names nobody (law 6): the customer is a place in the log, which leads to nothing after an
/// erasure, and nothing at all for one of whom nothing was recorded.
public struct DecisionToken: Hashable, Sendable {
    /// Which answer it stands for.
    package enum Answer: UInt8, Sendable {
        /// `show`.
        case state = 1
        /// `can`.
        case access = 2
        /// `timeline`.
        case timeline = 3
        /// `purchases`.
        case purchases = 4
    }

    /// Where the log names a customer first.
    struct Place: Hashable, Sendable {
        /// The event.
        var sequence: UInt64
        /// Place among the streams that the event names; 0 is its subject.
        var index: UInt8
    }

    /// Which answer.
    package let answer: Answer
    /// Who was answered.
    package let visibility: Visibility
    /// The environment that was asked about.
    package let environment: StoreEnvironment
    /// The effective instant that is asked about (T).
    package let at: Instant
    /// R as it was asked for; nil where it was not given as an instant.
    package let known: Instant?
    /// Events in the prefix that the answer was made from.
    package let size: UInt64
    /// Which history that prefix is of; nil: rules before the fourth did not say.
    let root: RootPrefix?
    /// `RulesVersion` of the program that answered.
    package let rules: UInt16
    /// The customer; nil: nothing of that prefix names them.
    let customer: Place?
    /// The feature of `access`.
    let feature: String?
    /// The first bytes of the SHA-256 of the answer without its token.
    let digest: [UInt8]

    static let digestCount = 16
}

extension DecisionToken {
    /// The first byte: another layout has another.
    private static let layout: UInt8 = 2
    /// That of a token which does not say of which history it is.
    private static let rootlessLayout: UInt8 = 1
    /// Longest token that is read, in characters: a feature's name and a hundred bytes.
    package static let characterLimit = 2048

    /// The years 0 to 9999, which RFC 3339 can write, with any offset: no question is about others.
    private static let instants = Int64(-62_200_000_000_000)...253_500_000_000_000

    private static let hasKnown: UInt8 = 1
    private static let hasCustomer: UInt8 = 2
    private static let hasFeature: UInt8 = 4
    private static let isOwn: UInt8 = 8

    /// The token as text: letters, digits, `-` and `_`.
    public var text: String {
        var writer = ByteWriter(reservingCapacity: 64)
        writer.append(root == nil ? Self.rootlessLayout : Self.layout)
        writer.append(answer.rawValue)
        writer.append(environment.rawValue)
        writer.append(
            (known == nil ? 0 : Self.hasKnown) | (customer == nil ? 0 : Self.hasCustomer)
                | (feature == nil ? 0 : Self.hasFeature)
                | (visibility == .own ? Self.isOwn : 0)
        )
        writer.append(rules)
        writer.append(at.milliseconds)
        writer.append(size)
        if let root { writer.append(root.bits) }
        if let known { writer.append(known.milliseconds) }
        if let customer {
            writer.append(customer.sequence)
            writer.append(customer.index)
        }
        if let feature { writer.append(feature) }
        writer.append(digest.span)
        return Base64.encode(writer.bytes.span, .url)
    }

    /// Reads a token; nil for what is none, or is of a newer layout.
    public init?(_ text: String) {
        // Text of anybody's: what it is instead matters to nobody.
        guard text.utf8.count <= Self.characterLimit, let bytes = Base64.decode(text, .url),
            let token = try? Self(reading: bytes.span)
        else { return nil }
        self = token
    }

    private init(reading bytes: Span<UInt8>) throws(DecodingFault) {
        var cursor = ByteCursor()
        let layout = try cursor.uint8(bytes)
        guard [Self.layout, Self.rootlessLayout].contains(layout),
            let answer = Answer(rawValue: try cursor.uint8(bytes)),
            let environment = StoreEnvironment(rawValue: try cursor.uint8(bytes))
        else { throw DecodingFault(what: "not a decision token", offset: cursor.position) }
        let marks = try cursor.uint8(bytes)
        // One text for one token: a bit that means nothing is refused.
        let known = Self.hasKnown | Self.hasCustomer | Self.hasFeature | Self.isOwn
        guard marks & ~known == 0 else {
            throw DecodingFault(what: "not a decision token", offset: cursor.position)
        }
        self.answer = answer
        visibility = marks & Self.isOwn == 0 ? .everything : .own
        self.environment = environment
        rules = try cursor.uint16(bytes)
        at = Instant(milliseconds: try cursor.int64(bytes))
        size = try cursor.uint64(bytes)
        root = layout == Self.layout ? RootPrefix(bits: try cursor.uint64(bytes)) : nil
        self.known =
            marks & Self.hasKnown == 0 ? nil : Instant(milliseconds: try cursor.int64(bytes))
        customer =
            marks & Self.hasCustomer == 0
            ? nil
            : Place(
                sequence: try cursor.uint64(bytes),
                index: try cursor.uint8(bytes)
            )
        feature = marks & Self.hasFeature == 0 ? nil : try cursor.string(bytes)
        guard [at, self.known ?? at].allSatisfy({ Self.instants.contains($0.milliseconds) }) else {
            throw DecodingFault(what: "not a decision token", offset: cursor.position)
        }
        let range = try cursor.bytes(bytes, count: Self.digestCount)
        digest = range.map { bytes[$0] }
        try cursor.finish(bytes)
    }
}
