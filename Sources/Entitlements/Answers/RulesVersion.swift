/// Which rules an answer was made by (row Z11).
package enum RulesVersion {
    /// Raised whenever the same events may get another answer than before.
    ///
    /// 2: answers say what is used up and warn of more. 3: periods of one start go by the time at
    /// which the store first told of them (P3), products go by either of Apple's keys (K9), and the catalog may say how long one lasts (P2).
    /// 4: decision tokens say of which history they are. 5: purchases say until when they stand, and
    /// a timeline calls no repeat late. 6: an account that is named only after an erasure takes nothing
    /// from the next owner in whatever period it is told (C1).
    package static let current: UInt16 = 6

    /// The first ones by which decision tokens say of which history they are.
    package static let ofRoots: UInt16 = 4

    /// The ones that reports are summed by: later ones change no sum.
    package static let ofSums: UInt16 = 6

    /// The first ones by which no repeat is late.
    package static let ofNews: UInt16 = 5
}
