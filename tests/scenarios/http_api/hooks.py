"""What the description of the API cannot say about a request that is valid."""

import schemathesis
from hypothesis import strategies

# No request may wait longer than the policy has it, which is two seconds here.
schemathesis.openapi.format("span", strategies.sampled_from(["1s", "2s", "1s 500ms", "1500ms"]))
schemathesis.openapi.format("room", strategies.just("ops"))


@schemathesis.hook
def before_call(context, case, kwargs):
    """No two options have the same id."""
    options = case.body.get("options") if isinstance(case.body, dict) else None
    if not isinstance(options, list) or not case.meta.generation.mode.is_positive:
        return
    ids = [option["optionId"] for option in options]
    if len(set(ids)) < len(ids):
        case.body = {**case.body, "options": [{**option, "optionId": str(at)} for at, option in enumerate(options)]}
