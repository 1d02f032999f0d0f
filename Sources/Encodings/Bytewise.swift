/// Text of which it counts whether its bytes are the same: an id, a name, or some.
public protocol BytewiseText: Hashable, Sendable {
    /// Whether both have the same bytes.
    func isSame(as other: Self) -> Bool
    /// Adds the bytes.
    func hash(bytesInto hasher: inout Hasher)
}

extension String: BytewiseText {
    /// Whether both have the same bytes.
    @inlinable
    public func isSame(as other: String) -> Bool { isSame(as: Optional(other)) }

    /// Adds the bytes.
    @inlinable
    public func hash(bytesInto hasher: inout Hasher) { hasher.combine(bytesOf: self) }
}

extension String?: BytewiseText {
    /// Whether both have the same bytes, or neither is there.
    @inlinable
    public func isSame(as other: String?) -> Bool {
        map { $0.isSame(as: other) } ?? (other == nil)
    }

    /// Adds the bytes, and whether there are any.
    @inlinable
    public func hash(bytesInto hasher: inout Hasher) {
        hasher.combine(self != nil)
        if let self { hasher.combine(bytesOf: self) }
    }
}

/// A stored property of a key that compares as `Name` does.
@propertyWrapper
public struct Bytewise<Text: BytewiseText>: Hashable, Sendable {
    /// The text.
    public var wrappedValue: Text

    /// Holds a text.
    @inlinable
    public init(wrappedValue: Text) { self.wrappedValue = wrappedValue }

    /// Whether the bytes are the same.
    @inlinable
    public static func == (left: Self, right: Self) -> Bool {
        left.wrappedValue.isSame(as: right.wrappedValue)
    }

    /// See `==`.
    @inlinable
    public func hash(into hasher: inout Hasher) { wrappedValue.hash(bytesInto: &hasher) }
}
