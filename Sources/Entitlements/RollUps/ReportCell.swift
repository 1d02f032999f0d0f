package import Encodings

/// A figure of a report that is kept summed up: what is counted, and of what.
package struct ReportCell: Sendable, Hashable {
    /// Which of the report's figures it is.
    package var figure: UInt8
    /// What it is counted of; nil where nothing is said.
    package var first: Name?
    /// The second name.
    package var second: Name?
    /// The third name.
    package var third: Name?
    /// What is counted, where it has a size.
    package var number: Int64

    /// Makes a cell.
    package init(
        _ figure: UInt8,
        _ first: String? = nil,
        _ second: String? = nil,
        _ third: String? = nil,
        number: Int64 = 0
    ) {
        self.figure = figure
        self.first = first.map { Name($0) }
        self.second = second.map { Name($0) }
        self.third = third.map { Name($0) }
        self.number = number
    }
}

/// The sums of cells.
package typealias CellSums = [ReportCell: Int128]
