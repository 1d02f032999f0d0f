/// The words that stand in records in clear although clients and stores choose them.
///
/// Codes, names of stages, of platforms, of signals: they outlive an erasure, so their alphabet is
/// bounded.
public enum Code {
    /// Bytes that a code may have at most.
    public static let byteLimit = 64
    /// What it may be made of beside ASCII letters and digits.
    public static let signs = "._:/+-"

    /// Whether a text is one.
    public static func isValid(_ text: String) -> Bool {
        guard (1...byteLimit).contains(text.utf8.count) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: signs.utf8.contains(byte)
            }
        }
    }
}
