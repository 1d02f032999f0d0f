import Entitlements

/// The name under which a store's word stands in an event: lower snake case.
enum SignalName {
    /// What stands for a word without any ASCII letter or digit.
    private static let unnamed = "unnamed"

    /// `SUBSCRIPTION_PAUSED` becomes `subscription_paused`; any run of other characters becomes
    /// one `_`; cut to what a code holds.
    static func of(_ word: String) -> String {
        var name: [UInt8] = []
        for byte in word.utf8 {
            switch byte {
            case 0x61...0x7A, 0x30...0x39: name.append(byte)
            case 0x41...0x5A: name.append(byte + 0x20)
            case _ where name.last != UInt8(ascii: "_") && !name.isEmpty:
                name.append(UInt8(ascii: "_"))
            default: break
            }
            if name.count == Code.byteLimit { break }
        }
        if name.last == UInt8(ascii: "_") { name.removeLast() }
        return name.isEmpty ? unnamed : String(decoding: name, as: UTF8.self)
    }
}
