import Foundation
import Testing

/// What other packages may build on is listed, so that a change of it is seen in review.
struct `The public surface` {
    /// The list is written anew instead of being held against the sources.
    private static let isWritten =
        ProcessInfo.processInfo.environment["ENTITLE_WRITE_SURFACE"] != nil

    private static func surfaces() throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for file in try House.files() {
            let target = String(file.path.prefix { $0 != "/" })
            found[target, default: []] += PublicSurface(of: file.lines).declarations
        }
        return found.filter { !$0.value.isEmpty }.mapValues { $0.sorted() }
    }

    @Test func `is what its lists say`() throws {
        let surfaces = try Self.surfaces()
        let folder = "Tests/HouseTests/PublicSurface"
        for (target, declarations) in surfaces {
            let text = declarations.joined(separator: "\n") + "\n"
            let path = "\(folder)/\(target).txt"
            if Self.isWritten { try House.write(text, to: path) }
            let listed = House.exists(path) ? try House.text(path) : ""
            let (new, old) = (
                Set(declarations), Set(listed.split(separator: "\n").map(String.init))
            )
            #expect(new.subtracting(old).sorted() == [], "\(target): not listed")
            #expect(old.subtracting(new).sorted() == [], "\(target): listed, but not there")
        }
        let lists = Set(try House.names(in: folder).map { String($0.dropLast(".txt".count)) })
        #expect(lists == Set(surfaces.keys), "a list for each target that shows something")
    }

    @Test func `is read as it is written`() {
        let lines = """
            public import Encodings
            /// public var comment: Int
            public enum Colour: String {
                case red, green
                case other(
                    Int
                )
                public static let usual = Colour.red
                func hidden() { let text = "public var x" }
            }
            extension Colour {
                struct Own {
                    public var inside: Int
                    public static func == (left: Own, right: Own) -> Bool { true }
                }
                public func mix(
                    _ other: Colour,
                    share: Double = 0.5
                ) throws -> [Colour] {
                    switch other { case .red: [] }
                }
                package var kept: Int { 0 }
                public private(set) var size: Int
            }
            """
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            PublicSurface(of: lines).declarations == [
                "public enum Colour: String", "Colour: case red, green", "Colour: case other(Int)",
                "Colour: public static let usual", "Colour.Own: public var inside: Int",
                "Colour.Own: public static func == (left: Own, right: Own) -> Bool",
                "Colour: public func mix(_ other: Colour, share: Double = 0.5) throws -> [Colour]",
                "Colour: public private(set) var size: Int",
            ]
        )
    }
}
