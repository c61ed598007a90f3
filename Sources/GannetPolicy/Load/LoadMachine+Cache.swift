import GannetHTTP

extension LoadMachine {
  /// Begins on the current request: what is stored is looked for first, where it may answer.
  mutating func load(into actions: inout [Action]) {
    conditions = nil
    let policy = request.cachePolicy
    if usesCache, CacheRules.looksUp(method: request.method, fields: request.fields, policy: policy) {
      state = .lookingUp
      actions.append(.lookUp)
    } else if policy == .returnDontLoad {
      fail(.notStored, into: &actions)
    } else {
      connect(fresh: false, into: &actions)
    }
  }

  /// The cache was asked for the current request: it has this response, or none. `now` is in seconds since 1970.
  package mutating func foundStored(_ head: StoredHead?, at now: Int64, into actions: inout [Action]) {
    guard case .lookingUp = state else { return }
    let decision = CacheRules.decide(head, fields: request.fields, policy: request.cachePolicy, at: now)
    switch decision {
    case .use:
      state = .deliveringStored
      actions.append(.deliverStored)
    case .validate(let fields):
      conditions = fields
      connect(fresh: false, into: &actions)
    case .load: connect(fresh: false, into: &actions)
    case .unavailable: fail(.notStored, into: &actions)
    }
  }

  /// Takes in what a head says of the cache. True when it is a 304 to our own question: what is stored is the answer.
  mutating func concernsStored(_ head: ResponseHead, into actions: inout [Action]) -> Bool {
    guard usesCache else { return false }
    if CacheRules.invalidates(method: request.method, status: head.status) { actions.append(.invalidate) }
    guard let conditions else { return false }
    if head.status == 304 {
      state = .deliveringStored
      let isOfStored = CacheRules.speaksOfStored(head.fields, asked: conditions)
      actions += [isOfStored ? .freshen(head.fields) : .invalidate, .discard, .deliverStored]
      return true
    }
    // The server has another answer now. One that fails says nothing of what is stored.
    if head.status < 500, !keeps(head) { actions.append(.invalidate) }
    return false
  }

  /// Whether the response may be stored, once it is whole. What a Digest answer has got is of no use later: no other
  /// request has the same `Authorization`, by which responses are told apart.
  func keeps(_ head: ResponseHead) -> Bool {
    usesCache && authorization?.login == nil
      && CacheRules.stores(
        method: request.method, sent: request.fields, status: head.status, fields: head.fields)
  }

  /// The delegate said whether the response is to be stored.
  package mutating func answeredStoring(_ stores: Bool, into actions: inout [Action]) {
    guard case .askingStoring = state else { return }
    if stores { actions.append(.store) }
    state = .ended
    actions.append(.finish)
  }
}
