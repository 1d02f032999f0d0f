import Encodings

/// Names that somebody may have meant who wrote another one.
package enum NearNames {
    /// Most names that are offered.
    private static let countLimit = 3
    /// Longer names are compared by their first letters (scalars: a letter may have any number).
    private static let lengthLimit = 64

    /// The known names nearest to a written one, nearest first: those that begin with it, and
    /// those that differ in at most a third of their letters.
    ///
    /// Cost: for each name, the product of the lengths that are compared, and its own.
    package static func near(_ written: String, among known: some Sequence<String>) -> [String] {
        let letters = self.letters(written)
        return known.compactMap { name -> (name: String, distance: Int)? in
            let other = self.letters(name)
            let distance = distance(letters, other)
            let isNear =
                distance <= max(1, max(letters.count, other.count) / 3)
                || !letters.isEmpty && other.starts(with: letters)
            return isNear ? (name, distance) : nil
        }
        .sorted { ($0.distance, Name($0.name)) < ($1.distance, Name($1.name)) }
        .prefix(countLimit).map(\.name)
    }

    private static func letters(_ name: String) -> [Unicode.Scalar] {
        let beginning = name.unicodeScalars.prefix(lengthLimit)
        return Array(String(beginning).lowercased().unicodeScalars.prefix(lengthLimit))
    }

    /// Letters put in, taken out, replaced, or swapped with their neighbours (Damerau and
    /// Levenshtein, none changed twice).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var above: [Int] = []
        var row = Array(0...right.count)
        for (place, letter) in left.enumerated() {
            var next = [place + 1]
            for (index, other) in right.enumerated() {
                let replaced = row[index] + (letter == other ? 0 : 1)
                var least = min(replaced, next[index] + 1, row[index + 1] + 1)
                if place > 0, index > 0, letter == right[index - 1], left[place - 1] == other {
                    least = min(least, above[index - 1] + 1)
                }
                next.append(least)
            }
            (above, row) = (row, next)
        }
        return row[right.count]
    }
}
