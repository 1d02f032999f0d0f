extension String {
    /// The text as one word of a shell's command line (POSIX, "Quoting").
    var shellWord: String {
        let plain = utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._/@:".utf8.contains(byte)
            }
        }
        guard !plain || isEmpty || hasPrefix("-") else { return self }
        return "'" + replacing("'", with: "'\\''") + "'"
    }
}
