package enum Resolver { package typealias Answer = Int }
