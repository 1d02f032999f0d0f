/// Which rules an answer was made by (row Z11).
package enum RulesVersion {
    /// Raised whenever the same events may get another answer than before.
    ///
    /// 2: answers say what is used up and warn of more. 3: periods of one start go by the time at
    /// which the store first told of them (P3), products go by either of Apple's keys (K9), and the catalog may say how long one lasts (P2).
    /// 4: decision tokens say of which history they are.
    package static let current: UInt16 = 4

    /// The first ones by which decision tokens say of which history they are.
    package static let ofRoots: UInt16 = 4
}
