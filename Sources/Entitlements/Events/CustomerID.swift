public import Encodings

/// What names a customer for life: 1 to 1024 bytes of UTF-8 without control characters.
///
/// Ids are bytes: two ways to write an accent are two customers (row 9.4). A text becomes an id
/// here and nowhere else.
public struct CustomerID: Hashable, Sendable {
    /// The id as it was given.
    @Bytewise public private(set) var text: String

    /// Checks a text; nil if it is no id.
    ///
    /// Cost: linear in the text.
    public init?(_ text: String) {
        guard Identifier.isValid(text) else { return nil }
        self.text = text
    }
}

extension CustomerID: ExpressibleByStringLiteral {
    /// An id that the program itself writes or makes; what comes from outside is asked for with
    /// `init(_:)`.
    ///
    /// - Precondition: it is an id.
    public init(stringLiteral text: String) {
        guard let id = CustomerID(text) else {
            preconditionFailure("a customer id has 1 to 1024 bytes without control characters")
        }
        self = id
    }
}

extension CustomerID: Comparable {
    /// Orders by the bytes of the text.
    public static func < (left: CustomerID, right: CustomerID) -> Bool {
        left.text.precedes(right.text)
    }
}

extension CustomerID: CustomStringConvertible {
    /// The id as it was given.
    public var description: String { text }
}
