/// Which rules an answer was made by (row Z11).
package enum RulesVersion {
    /// Raised whenever the same events may get another answer than before.
    ///
    /// 2: answers say what is used up and warn of more.
    package static let current: UInt16 = 2
}
