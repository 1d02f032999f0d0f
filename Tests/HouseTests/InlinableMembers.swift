/// Members of the package's types that are meant to be inlined into other modules and are not.
///
/// The compiler hands on the body of an `@inlinable` member of a `package` type only where the type
/// is `@usableFromInline`; without a word it calls it elsewhere (Swift 6.3, seen in the machine code
/// of loops over records).
enum InlinableMembers {
    /// The numbers of the lines of such members, from 1.
    static func calledAnyway(in lines: [String]) -> [Int] {
        var isHeldBack = false
        var found: [Int] = []
        for (index, line) in lines.enumerated() {
            if let first = line.first, first != " ", line.hasSuffix("{") {
                let words = line.split(separator: " ")
                let isType = words.contains { ["struct", "enum", "class"].contains($0) }
                isHeldBack =
                    words.first == "package" && isType
                    && (index == 0 || lines[index - 1] != "@usableFromInline")
            }
            let isMember = line.hasPrefix("    @inlinable")
            guard isMember, isHeldBack else { continue }
            let declaration = line + (index + 1 < lines.count ? lines[index + 1] : "")
            if declaration.contains(" package ") { found.append(index + 1) }
        }
        return found
    }
}
