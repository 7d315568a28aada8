"""The companion verifier: replays one launch on a real vLLM in four arms, and says whether its tokens are right.

Data goes one way, and each room knows only what stands before it::

    matrix      a resolved launch -> arms: engine arguments that differ in speculation and prefix caching alone
    workloads   facts of a running engine -> batches of requests (token ids)
    drive       an arm + batches -> answers, in a fresh process of the environment that has vLLM
                (``engine_side/`` is what runs there: standard library and vLLM, nothing of gdnlint)
    store       answers <-> one file of JSON lines for each arm, which is also how a run resumes
    evidence    answers + counters -> did the cache hit, were drafts accepted, is the engine deterministic
    statistics  exact tests, their power
    compare     the answers of two arms -> how far they are apart, request by request
    verdict     evidence + comparisons -> ``corrupt``, ``equivalent``, ``inconclusive`` or ``failed``, and why
    shrink      a corrupt run -> the shortest list of requests that still shows it
    outcome     all of it as one JSON document, ``gdnlint-verify/1``
    pages       that document -> text and one HTML file
    campaign    the order in which a run does these things
    selftest    a campaign on tiny models, with faults that must be found
    emit        a launch -> the commands of its four arms

Nothing else in gdnlint imports this package, and it imports no vLLM: the engine is another process.
"""
