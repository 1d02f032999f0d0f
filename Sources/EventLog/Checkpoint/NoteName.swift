/// The name of a key in a signed note: not empty, no Unicode space, no plus, no control character.
///
/// C2SP signed-note, Format. Names are compared byte by byte (`isSame(as:)`): Swift's text equality
/// takes canonical equivalents for the same, which would let one name pass for another.
package enum NoteName {
    package static func isValid(_ name: some StringProtocol) -> Bool {
        !name.isEmpty
            && name.unicodeScalars.allSatisfy { scalar in
                scalar != "+" && scalar.value >= 0x20 && !scalar.properties.isWhitespace
            }
    }
}
