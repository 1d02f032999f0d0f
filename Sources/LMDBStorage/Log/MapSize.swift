/// How much address space a ledger's files are mapped into; the files themselves stay as small as
/// what they hold.
package enum MapSize {
    /// What log and vault begin with, each, in bytes.
    package static let usual = 64 << 30
    /// What a map gets more when it is full.
    static let growth = 16 << 30
    /// Less does not hold an empty ledger.
    package static let least = 1 << 20
}
