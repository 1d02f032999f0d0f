import Encodings
import EventLog

/// Ids for requests that bring none.
enum RequestIDs {
    /// 128 random bits: an id tells whoever gets it neither of the process nor of its other
    /// requests.
    @Sendable
    static func next() -> String {
        var randomness = RandomSource.system
        return Hexadecimal.encode(randomness.bytes(byteCount))
    }

    private static let byteCount = 16
}
