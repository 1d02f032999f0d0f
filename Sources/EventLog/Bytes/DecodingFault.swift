/// Stored or received bytes that do not have the shape they must have.
///
/// Thrown, never trapped on: the bytes come from a disk or from somebody else. The message names
/// structure only, never content, so it may be logged.
@usableFromInline
package struct DecodingFault: Error, Hashable, Sendable {
    /// What was expected, in words for people; not for deciding.
    package var what: String
    /// Where it was expected: bytes from the start of what was being read.
    package var offset: Int
    /// Whether the bytes are sound but of a format that this version does not know (E5).
    package var isNewer: Bool

    /// Makes a fault.
    package init(what: String, offset: Int, isNewer: Bool = false) {
        self.what = what
        self.offset = offset
        self.isNewer = isNewer
    }
}

extension DecodingFault: CustomStringConvertible {
    /// What and where, in one line.
    @usableFromInline package var description: String { "\(what) (at byte \(offset))" }
}
