/// What the machines of a cluster hold in common of what is told to others: who is told and how far, and what
/// was noticed.
///
/// The machine that leads writes it. Each write has a stamp, and names the one that it knows to be the last:
/// who was deposed meanwhile changes nothing.
package protocol ClusterDeliveries: Sendable {
    /// The stamp of the last write; nil: there was none.
    func deliveryStamp() throws -> [UInt8]?

    /// Who is told and how far, as it was written last; nil: it never was.
    func deliveryState() throws -> [UInt8]?

    /// Pages of notices that begin at a number or behind it, ascending, the first ones.
    func noticePages(from number: UInt64, limit: Int) throws -> [NoticePage]

    /// Writes all of a change, durably, or nothing of it.
    ///
    /// - Returns: false where the last write was another one than the caller knows.
    func write(_ change: DeliveriesChange, insteadOf stamp: [UInt8]?) throws -> Bool
}

/// Notices that follow each other, in the bytes of who reads them.
package struct NoticePage: Sendable, Hashable {
    /// The number of the first one.
    package var first: UInt64
    /// All of them.
    package var bytes: [UInt8]

    /// Puts a page together.
    package init(first: UInt64, bytes: [UInt8]) { (self.first, self.bytes) = (first, bytes) }
}

/// What is written at once.
package struct DeliveriesChange: Sendable {
    /// The write's own stamp.
    package var stamp: [UInt8]
    /// Who is told and how far; nil: as it is.
    package var state: [UInt8]?
    /// Notices that are new.
    package var pages: [NoticePage] = []
    /// Pages that begin here or behind it are gone; nil: none are.
    package var cutFrom: UInt64?
    /// Pages that end before it are gone; nil: none are.
    package var forgetBefore: UInt64?

    /// Nothing but its stamp.
    package init(stamp: [UInt8]) { self.stamp = stamp }
}
