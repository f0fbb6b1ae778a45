"""Rules for sentences that address a language model rather than a person who repairs.

Each rule needs two signs, a wish and something only a program can be asked to do: "ignore the
previous warning" and "the system prompts for a password" are ordinary operation text. The
patterns are matched against text as `services.knowledge.folding.fold` returns it: lower case,
without accents and markup, spaces single. A wording in another language is one more line here.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class InstructionRule:
    """One kind of instruction to a model."""

    what: str
    signs: re.Pattern[str]
    """Quick pre-filter; it matches in every text that the pattern matches."""
    pattern: re.Pattern[str]

    def matches(self, text: str) -> bool:
        """Return True if the text is an instruction of this kind."""
        return bool(self.signs.search(text) and self.pattern.search(text))


def _rule(what: str, signs: str, *patterns: str) -> InstructionRule:
    return InstructionRule(
        what, re.compile(signs), re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    )


_START = (
    r"(?:^|[.,;:!?\"'()\[\]>–—-] ?|\b(?:please|always|now|instead|you (?:must|should|will|shall"
    r"|are to)) )"
)
"""Positions where an imperative may begin; in "the routers answer" the verb is elsewhere."""

_MODEL = (
    r"(?:ai|a\.i\.|llms?|gpt(?:-\d)?|chatgpt|copilot|chat ?bots?|(?:large )?language models?"
    r"|ai (?:assistants?|agents?|models?|systems?|tools?)|virtual assistants?)"
)
_EARLIER = (
    r"(?:previous(?:ly given)?|prior|above|earlier|preceding|foregoing|former|existing|initial"
    r"|original|other|current)"
)
_DIRECTIVE = (
    r"(?:instructions?|directives?|guidelines?|guardrails?|prompts?|directions?|orders?"
    r"|constraints?|safety (?:rules|measures)|system messages?)"
)
_DISOBEY = (
    r"(?:ignore|disregard|forget|abandon|discard|pay no attention to|(?:do not|don'?t|never"
    r"|stop) (?:follow|obey)(?:ing)?)"
)
_HIDDEN = r"(?:system|initial|original|hidden|secret|full|entire|complete|exact|internal|own)"

_ENGLISH = (
    _rule(
        "overrides instructions",
        r"aside|away|apply|overrul|cancel|replac|supersed|new |written|said|stated|told|rules|guid"
        r"|do |instead of|ignor|disregard|forget|abandon|discard|attention|follow|obey|overrid"
        r"|bypass|circumvent"
        r"|your |instruction|directive|task|objective|prompt|rules|passage|context|document",
        rf"\b{_DISOBEY} (?:all|any|each|every)(?: of)?(?: (?:the|your|my|these|those"
        rf"|their))?(?: {_EARLIER}){{1,2}}(?: \w+)?"
        rf" (?:{_DIRECTIVE}|rules|context|commands|text|messages|documents|passages)\b",
        rf"\b{_DISOBEY} (?:all |any |each |every )?(?:of )?your (?:\w+ ){{0,3}}(?:{_DIRECTIVE}"
        rf"|rules|programming|training|context)\b",
        rf"^(?!(?:if|when|where|unless|in case|for) )[^.!?]{{0,80}}\b{_DISOBEY} (?:the |these "
        rf"|those |my )?(?:\w+ ){{0,2}}{_EARLIER} {_DIRECTIVE}\b",
        rf"^(?!(?:if|when|where|unless|in case|for) )[^.!?]{{0,80}}\b{_DISOBEY} (?:the "
        rf"|all )?{_DIRECTIVE} (?:above|before|you (?:were|have been|got|received)|given (?:above"
        rf"|before|earlier|to you))",
        rf"\b{_DISOBEY} (?:everything|anything|all|whatever)(?: that)? (?:(?:is |was |comes? |came "
        rf"|stands? |written |said )?(?:above|before this|so far|previously)"
        r"|you (?:were|have been|know|learned)|(?:was|has been) (?:said|told))",
        rf"\b{_DISOBEY} (?:the|all|everything)(?: of)?(?: the)? above,? (?:and|then"
        rf"|instead)[ ,]+(?:\w+ )?(?:say|print|reply|respond|answer|output|write|tell|return"
        rf"|translate|repeat|recommend)\b",
        r"\b(?:override|bypass|circumvent|break|drop|deactivate) (?:all )?(?:of"
        r" )?your (?:\w+ ){0,2}(?:instructions?|guidelines?|guardrails?|programming|restrictions"
        r"|safety|filters?|rules|prompt)\b",
        rf"\b(?:new|updated|revised|real|actual|true|final|important|special"
        rf"|secret) (?:system )?(?:instructions?|directives?|task|objective) (?:for|to) (?:the "
        rf"|all |any |you,? )?{_MODEL}\b",
        r"\byour (?:new|real|actual|true|only|sole) (?:task|goal|job|role|objective|instructions?"
        r"|purpose|mission|directive) (?:is|are|now)\b",
        r"^\W*(?:new|updated|revised|override) (?:system )?(?:instructions?|directives?|prompts?):",
        r"\bsystem (?:override|prompt|instructions?)(?: \w+)?:",
        r"\b(?:instructions?|rules|prompt|passages?|context|documents?) (?:above|before"
        r"|given so far) (?:are|is|were|was) (?:void|obsolete|superseded|cancelled|canceled|a test"
        r"|fake|revoked)\b",
        rf"\b(?:set|put|throw|cast|leave) (?:aside|away) [^.!?]{{0,60}}\b(?:guidance|{_DIRECTIVE}"
        rf"|rules)\b[^.!?]{{0,40}}\b(?:you|earlier|previous|before|above)\b",
        r"\b(?:preceding|previous|prior|earlier|above|former|original) (?:instructions?"
        r"|directives?|guidelines?|guidance|prompts?|orders) (?:no longer|do not|don't"
        r"|does not) (?:apply|count|matter|hold)\b",
        r"\b(?:overrid(?:es?|ing)|overrules?|cancels?|replaces?|supersedes?) (?:(?:all|any|every"
        r"|your|the|other|previous|earlier) )+(?:safety|system|model'?s?) (?:rules|instructions?"
        r"|guidelines?|guardrails?|prompts?|measures)\b",
        r"\byour (?:previous|last|current|original|former|old) (?:task|job|instructions?|role"
        r"|prompt|orders) (?:is|are|has|have|was|were)(?: been)?(?: now)? (?:finished|over|done"
        r"|complet\w+|cancell?ed|void|obsolete|replaced|changed)\b",
        r"\byour (?:instructions?|rules|orders|guidelines|directives|prompt) (?:have|has|are|is"
        r"|were|was) (?:now )?(?:been )?(?:changed|replaced|updated|void|cancell?ed|over|revoked"
        r"|obsolete|different)\b",
        r"\bnew (?:task|session|role|persona|mission|orders|objective)(?: for you)?[:.](?= ?\w)",
        r"\b(?:nothing|none of what|all|everything|whatever)(?: that)?(?: (?:is|was|has been"
        r"|you were))? (?:written|said|stated|told|given) (?:earlier|before|above|so far"
        r"|previously)[^.!?]{0,20}\b(?:counts?|applies|apply|matters?|holds?|void|cancell?ed"
        r"|ignored|be forgotten)\b",
        r"\b(?:instructions?|guidelines?|rules|directives?) (?:stated|given|written|listed|set"
        r"|mentioned) (?:before|above|earlier|so far|to you)[^.!?]{0,25}\b(?:are|is"
        r"|were) (?:now )?(?:void|cancell?ed|revoked|obsolete|superseded|suspended|lifted)\b",
        r"\bdo (?:exactly )?(?:whatever|what|anything|everything) (?:that )?(?:the|this"
        r"|these) (?:following |next )?(?:paragraphs?|texts?|messages?|sentences?|documents?"
        r"|pages?|lines?) (?:tells?|says?|asks?|orders?|wants?|demands?)\b",
        r"\binstead of (?:troubleshooting|answering|diagnos\w+|following (?:the|your)|(?:a"
        r"|the) (?:workflow|plan|flowchart)|your task)[^.!?]{0,30}\b(?:tell|write|say|output|give"
        r"|print|recommend|return|produce|just)\b",
        r"\bthrow away [^.!?]{0,40}\b(?:given|told) to you\b",
    ),
    _rule(
        "gives a model a role",
        r"emulate|speak|play|stop being|forget|i am|i'm|authori|let|you|act as|behave|become"
        r"|simulate|pretend|imagine|role-?play|from now on|as an?|mode\b",
        rf"\byou are (?:now |no longer |actually |really )?(?:an? |the "
        rf"|my )?(?:\w+ ){{0,4}}{_MODEL}\b",
        r"\b(?:you are|you're|act as|behave as|become|simulate) (?:now |from now on )?(?:an? "
        r"|in )?(?:\w+ )?(?:dan|jailbroken|unrestricted|unfiltered|god mode|uncensored)\b",
        r"\byou are (?:now|no longer) (?:an? |bound |restricted "
        r"|limited )(?:by )?(?:\w+ ){0,3}(?:assistant|pirate|poet|hacker|bot|expert|character"
        r"|persona|rules|guidelines|instructions)\b",
        r"\b(?:act|behave|respond|answer) as (?:if|though) you (?:were|are|had"
        r"|have)\b[^.!?]{0,40}\b(?:ai|assistant|model|rules|restrictions|instructions|guidelines"
        r"|prompt)\b",
        r"\b(?:pretend|imagine|roleplay|role-play)(?: that)? (?:to be|you are|you're"
        r"|you have no)\b",
        r"\bfrom now on,? (?:you )?(?:(?:will|must|should|shall|only|always) )*(?:answer|respond"
        r"|reply|output|say|speak|act|end|begin|cite|rate|score)\b",
        rf"\bas an? (?:\w+ )?{_MODEL}\b,?",
        r"\b(?:switch|change|enter|enable|activate) (?:to |into )?(?:jailbreak|dan|unrestricted"
        r"|unfiltered|god) mode\b",
        rf"\byou (?:will|must|shall|are to|should) (?:now )?(?:act|behave|respond|speak"
        rf"|play) as (?:an? |the |my )?(?:\w+ )?(?:planner|assistant|{_MODEL}|bot|hacker|persona"
        rf"|character|pirate|terminal|shell|interpreter)\b",
        r"\b(?:act|behave|speak|answer|respond|play) as (?:if you were )?(?:my |a "
        r"|an )(?:\w+ )?(?:grand(?:mother|father)|pirate|hacker|poet|villain|terminal|jailbreak"
        r"|malicious \w+|evil \w+)\b",
        r"\b(?:simulate|emulate) (?:being )?an? (?:\w+ )?(?:terminal|shell|interpreter|chat"
        r"|conversation|assistant)\b",
        r"\byou (?:have|know|follow|obey|are under) no (?:rules|restrictions|limits?|limitations"
        r"|guidelines|filters?|morals)\b",
        r"\byou are (?:now )?(?:an? |the |my )(?:\w+ ){0,2}(?:hacker|pirate|storyteller|comedian"
        r"|villain|attacker|(?:malicious|evil|unlimited|free) \w+)\b",
        r"\b(?:stop being|you are no longer|forget (?:that )?you are|forget who you are)(?: an?"
        r"| the)?\b",
        r"\b(?:let'?s|let us|we will|we are going to) (?:play|roleplay|pretend)\b",
        r"\bi(?:'m| am) your (?:developer|creator|administrator|owner|operator|maker|programmer)\b"
        r"|\bi (?:hereby )?authori[sz]e you to\b",
    ),
    _rule(
        "addresses a model",
        r"planner|scorer|judge|model|bot|agents?|reader|\bdear|\bhey|\bai\b|a\.i|llm|gpt|copilot"
        r"|chat|language model|assistant|your |if you",
        rf"\b(?:attention|dear|hey|hello|hi|note|notice|notes|message|messages|instructions?"
        rf"|reminder|hint|directive|information|memo)(?: (?:to|for))?(?: (?:the|any|all|every|our"
        rf"|your|you))*,? {_MODEL}\b(?! (?:server|service|gateway|deployment|workload|cluster|node"
        rf"|job|endpoint|inference|platform))",
        rf"^\W*(?:{_MODEL}|assistant)(?: \w+)?[:,] ?(?:please |you |do |now )*(?:ignore|disregard"
        rf"|forget|say|reply|respond|answer|output|rate|score|cite|always|must|refuse)\b",
        rf"^\W*(?!ai\W)(?:{_MODEL}|assistant)(?: \w+)?[:,] ?(?:please |you |do |now )*(?:print"
        rf"|write|add|include|insert|recommend|tell|return|follow|run)\b",
        rf"\bif you(?: are|'re) (?:an? |the |any )?(?:\w+ )?(?:{_MODEL}|assistant|bot|machine"
        rf"|automated (?:system|tool|reader|agent)|planner|scorer|summari[sz]er)\b",
        rf"\b{_MODEL}s? (?:reading|processing|parsing|summari[sz]ing|ingesting|analy[sz]ing"
        rf"|that (?:reads?|process(?:es)?|summari[sz]es?)|who reads?) (?:this|the|these)\b",
        rf"\b(?:any|all|every|each|the|this|you,? the) {_MODEL} (?:must|should|shall|is to|are to"
        rf"|has to|have to|needs? to) (?:\w+ )?(?:ignore|disregard|say|answer|reply|respond|output"
        rf"|include|insert|add|recommend|write|follow|obey|cite|rate|score|refuse|tell|run"
        rf"|propose)\b",
        r"\byour (?:training data|language model|context window|knowledge cut-?off"
        r"|safety guidelines)\b",
        r"\bas the (?:planner|scorer|judge|assistant|model|ai|bot),? you (?:are|must|should|will"
        r"|shall|have|need)\b",
        r"\b(?:the|any|every|all|dear|automated|ai|you,? the) (?:language )?(?:models?|assistants?"
        r"|planners?|scorers?|bots?|ai)(?: \w+ing (?:this|these)(?: \w+)?)?,? (?:must|should|shall"
        r"|has to|have to) (?:only |always |never |not )?(?:output|answer|reply|respond|say|cite"
        r"|write|ignore|refuse|skip|generate|produce|propose|recommend|treat)\b",
        r"\b(?:automated|ai|software|machine|language) (?:planners?|agents?|readers?|assistants?"
        r"|models?|tools?)(?: \w+)? (?:reading|processing|parsing|that reads?"
        r"|which reads?) (?:this|the|these)\b",
        rf"^\W*(?:dear|hey|hello|hi) (?:language )?(?:model|assistant|bot|planner|{_MODEL})\b",
        r"\b(?:hidden |secret |private )?(?:note|message|instructions?|information) (?:for"
        r"|to) (?:the |all |any )?(?:ro)?bots\b|\b(?:hidden|secret) (?:note|message"
        r"|instructions?) (?:for|to)\b",
        rf"^\W*(?!ai\W){_MODEL}s?: (?:please |do not |only |never )*(?:stop|skip|produce|generate"
        rf"|use|choose|treat|consider|prefer|append|replace|delete|propose|omit|leave|this (?:page"
        rf"|runbook|document))\b",
    ),
    _rule(
        "asks for the prompt or its secrets",
        r"you (?:were|are|have|had)|prompt|instruction|system message|your|verbatim|word for word"
        r"|into",
        rf"\b(?:reveal|print|show|repeat|output|leak|disclose|display|expose|quote|recite|dump"
        rf"|summari[sz]e|paste|append|include|copy|translate|tell|give|send|email)(?: me| us| back"
        rf"| out| verbatim)?(?: all)?(?: of)? (?:your|the) (?:{_HIDDEN} ){{0,3}}(?:system"
        rf" )?(?:prompt|instructions) (?:verbatim|in full|word for word|you (?:were"
        rf"|have been) given|above|here|as (?:the |a )?(?:step|text|answer|first|title))",
        rf"\b(?:reveal|print|show|repeat|output|leak|disclose|display|expose|quote|recite|dump"
        rf"|paste|append|include|copy|translate|tell|give|send|email)(?: me| us| back"
        rf"| out)?(?: all)?(?: of)? your (?:{_HIDDEN} ){{0,3}}(?:prompts?|instructions?"
        rf"|system message)\b",
        r"\b(?:reveal|leak|repeat|recite|disclose|quote) (?:the|your) (?:(?:hidden|secret|full"
        r"|entire|complete|exact) )*system (?:prompt|message|instructions)\b",
        r"(?<!not )(?<!never )(?<!n't )\b(?:reveal|leak|disclose|exfiltrate|expose|print"
        r"|output) (?:me |us )?(?:all )?(?:of )?your (?:\w+ ){0,2}(?:api keys?|secrets?|keys?"
        r"|credentials|environment variables|tokens?)\b",
        r"\bwhat (?:is|are|was|were) your (?:system |initial |original |hidden )*(?:prompt"
        r"|instructions)\b",
        r"\b(?:text|words|lines|everything) (?:above|before) (?:this"
        r"|starting with \W?you are)[^.!?]{0,40}\b(?:verbatim|word for word|into (?:a|the) (?:step"
        r"|answer|code block))\b",
        r"\byour (?:hidden|secret|initial|original|internal) (?:instructions|prompt|message|rules"
        r"|guidelines)\b",
        r"\bwhat you (?:were|have been|had been) (?:told|instructed|given"
        r"|prompted)\b[^.!?]{0,30}\b(?:before|above|conversation|prompt|start|beginning|to do)\b",
        r"\b(?:keys?|passwords?|secrets?|tokens?) (?:that )?you (?:were|are"
        r"|have been) (?:configured|given|trusted|provided|set up) with\b",
    ),
    _rule(
        "dictates the answer",
        r"workflow|flowchart|plan|step|only|help|assist|empty|blank|nothing else|exactly|verbatim"
        r"|end the|respond|reply|answer|output|return|say|print|write|your|every|each|all\b|mention"
        r"|reveal"
        r"|disclos|tell|show|refuse|decline|steps|nodes|decisions|lines|mermaid|flowchart|field"
        r"|array|list|key|object|property|decode|decrypt|scramble|obfuscate|rot13|reverse|follow"
        r"|obey|comply|carry out|not |n'?t |never ",
        rf"{_START}(?:respond|reply|answer|output|return)(?: \w+)? (?:only|exclusively|solely|just"
        rf"|exactly|nothing but)(?: and exactly)? (?:with|in|by|the (?:word|phrase|text|sentence"
        rf"|following))\b",
        rf"{_START}(?:respond|reply|answer) (?:(?:with )?nothing (?:but|except)\b|with (?:only"
        rf"|just|exactly)\b|(?:only|just|exactly) ?[\"'“:])",
        r"\b(?:respond|reply|answer|say)(?: to (?:this|every\w*|all)(?: \w+)?)? (?:only |just "
        r"|exactly |simply )?(?:with )?(?:only |just |exactly )?the (?:single |exact "
        r"|following )?(?:words?|phrase|sentence)\b",
        rf"{_START}(?:respond|reply|answer|say|output|print|write)(?: only"
        rf"| just)?(?: with)?[: ]+[\"'“«]?(?:i am sorry|i'm sorry|sorry,? (?:i|but)|i cannot"
        rf"|i can't|i am unable|i have been|no answer)",
        r"\b(?:begin|start|end|finish|prefix|conclude|close) (?:your|every|each"
        r"|all)(?: of your)? (?:answers?|responses?|repl(?:y|ies)|outputs?|messages|steps?|labels?"
        r"|workflows?|plans?) (?:with|by)\b",
        r"\byour (?:final )?(?:answer|reply|completion|plan|only (?:answer|output|response|step)"
        r"|response) (?:must|shall|has to|needs to|is to|may only|should only|will) (?:only "
        r"|always |also )?(?:be|contain|consist|include|begin|start|end|say|state|read|repeat|have"
        r"|cite)\b",
        r"\b(?:do not|don'?t|never|without) (?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)"
        r"|tell(?:ing)?)(?: \w+)? (?:th(?:is|ese) (?:instructions?|notes?|message"
        r"|prompt|sentence|text)|the user|to the user|the (?:human|reader|engineer) (?:about|that"
        r"|of))\b",
        rf"{_START}(?:refuse|decline) to (?:answer|help|respond|assist|plan|write|produce|generate"
        rf"|give)\b",
        r"\b(?:do not|don'?t|never) (?:generate|produce|output|write|create|propose|plan"
        r"|return) (?:any|a|the) (?:workflows?|plans?|answers?|flowcharts?|candidates?|mermaid"
        r"|json|troubleshooting)\b",
        r"\b(?:write|produce|generate|output|return|emit|create|answer with|make it|repeat (?:it"
        r"|this|them) (?:for|in)) (?:at least |exactly |up to |a workflow (?:of|with) "
        r"|a plan (?:of|with) )?\d{2,} (?:\w+ )?(?:steps|nodes|decisions|lines)\b",
        r"\b(?:repeat|write|print|say|output) (?:the |this )?(?:word|phrase|sentence|text"
        r"|token)\b[^.!?]{0,60}\b(?:\d+ times|forever|endlessly|until)\b",
        r"\b(?:include|add|insert|put|append|place|embed|mention|recommend|advertise"
        r"|use)\b[^.!?]{0,80}\b(?:in|into|to|at the (?:top|end|beginning|start) of|as (?:a"
        r"|the) \w+ (?:step )?(?:in|of)) (?:(?:your|each|every|all)(?: of your)?"
        r" (?:answers?|responses?|repl(?:y|ies))|(?:each|every|your (?:final|generated))"
        r" (?:workflow|plan|flowchart|step)|workflows? (?:that )?you)\b",
        r"\b(?:in|into|to) (?:the|your|any) (?:mermaid|flowchart) (?:you|output|code|text|answer"
        r"|diagram|chart|that)\b",
        r"\b(?:your|the) mermaid (?:diagram|chart|flowchart|code|output|answer)\b",
        r"\b(?:set|put|write|leave|fill|keep|add|insert)\b[^.!?]{0,40}[\"'` ](?:steps?|cites?"
        r"|citations?|relevance|coverage|score)[\"'`]? (?:field|array|list|key|object|property)\b",
        rf"{_START}(?:respond|reply|answer|return|output)(?: \w+){{0,3}} (?:json|yaml|mermaid"
        rf"|html)\b(?= ?(?:[.:!{{]|only|object|with|of|and|that|in|$))(?<!not json)",
        r"\b(?:decode|decrypt|unscramble|de-?obfuscate|rot13|reverse)\b[^.!?]{0,60}\b(?:and"
        r"|then) (?:follow|obey|execute its instructions|do (?:what|as) it|carry out|comply)\b",
        r"\b(?:follow|obey|comply with|carry out) (?:the |these |this |its |any |all )?(?:hidden"
        r"|secret|encoded|decoded|embedded|following system|instructions? (?:hidden|encoded"
        r"|embedded|inside|in the (?:alt|comment|footnote|base64)))\b",
        r"\b(?:when|while|if|before|as) (?:you (?:draft|write|generate|create|produce|plan|compose"
        r"|answer)|(?:draft|writ|generat|creat|produc|compos)ing) (?:the|a|an|any|your"
        r"|this) (?:\w+ )?(?:workflow|flowchart|plan|answer|response"
        r"|reply)\b[^.!?]{0,80}\b(?:insert|add|include|skip|omit|leave out|mention|put|recommend"
        r"|never|always|only)\b",
        r"\b(?:each|every|all|any)(?: of the)? (?:steps?|answers?|workflows?|plans?|responses?"
        r"|repl(?:y|ies)|outputs?|candidates?) (?:that )?you (?:write|generate|produce|give|create"
        r"|return|output|draft|make)\b",
        r"\b(?:append|prepend|attach|add)\b[^.!?]{0,60}\bto (?:each|every|all)(?: of (?:the"
        r"|your))? (?:step text|steps? (?:text|label)|answers?|replies|responses)\b",
        rf"{_START}only (?:output|answer|reply|respond|print|return"
        rf"|say)(?: with)? (?:the following|this|these|one|a single|exactly|[\"'“])",
        r"\b(?:answer|reply|respond) with (?:a|one) (?:single |one )?(?:step|word|sentence|line"
        r"|phrase)\b|\bwith (?:a|one) (?:single|one)? ?step (?:that )?(?:says|saying|reading)\b",
        rf"{_START}(?:say|output|print|write)(?: only| just)? (?:exactly|verbatim)\b ?[:\"'“]?",
        r"\btell the (?:user|reader|engineer|operator) that (?:the|this) (?:incident|problem|issue"
        r"|ticket|fault|alert) (?:is|was|has been) (?:already )?(?:solved|resolved|fixed|closed"
        r"|harmless|false)\b|\bend the conversation\b",
        rf"{_START}(?:do not|don'?t|never) (?:help|assist) (?:the|this|any) (?:user|person|human"
        rf"|engineer|operator)\b",
        rf"{_START}(?:return|output|produce|give|generate|write) (?:an? )?(?:empty|blank"
        rf"|no) (?:list|array|plan|workflow|answer|response|set|steps?|object)\b",
        r"\bmake (?:the |your )?(?:first|last|only|final|second|next) step (?:of|in) (?:the|your"
        r"|every|each|any) (?:workflow|plan|answer|flowchart)\b",
        r"\b(?:begin|start|end|finish) (?:your|the) (?:reply|answer|response) with\b",
        rf"{_START}(?:output|print|write|say|return|repeat) [^.!?]{{0,60}}\band nothing else\b",
    ),
    _rule(
        "asks for scores or citations",
        r"relevance|coverage|accuracy|coherence|conciseness|other |this |rate|scor|grade|rank|judge"
        r"|mark|rating|points|cit(?:e|ing|ation)|invent|make up|fabricat"
        r"|hallucinat|prefer|choose|select|pick|favou?r",
        r"\b(?:rate|score|grade|rank|judge|mark)\b[^.!?]{0,60}\b(?:candidate|workflow|answer"
        r"|criteri(?:on|a)|dimensions?|this (?:document|page|passage|runbook|procedure|plan"
        r"|text))\b[^.!?]{0,60}\b(?:5|five|10|ten|highest|maximum|max|perfect|top|best|first"
        r"|100 ?%?|lowest|1|one)\b",
        r"\b(?:give|assign|award|grant)\b[^.!?]{0,60}\b(?:score|rating|grade|marks?"
        r"|points)\b(?: of)?[^.!?]{0,20}\b(?:5|five|10|ten|100|highest|maximum|perfect|top|best|1"
        r"|one|lowest)\b[^.!?]{0,60}",
        r"\b(?:score|rating|marks?|points) (?:of )?(?:5|five|5/5|10/10"
        r"|1)\b[^.!?]{0,30}\b(?:everything|every|all|each|any|this (?:document|page|candidate"
        r"|workflow)|dimensions?|criteri(?:on|a)|candidates?)\b",
        r"\b(?:all|every|each)(?: of the)?(?: five)? (?:scores?|ratings?|dimensions?) (?:must"
        r"|should|shall|are to|is to|has to|have to|=|to)\b",
        r"\b(?:always |only |must |should |please |and |you )cite (?:only |always )?(?:this"
        r"|the (?:document|page|file|source|following)|\S+\.(?:md|html|pdf|txt|docx)\b)",
        r"\bcit(?:e|ing|ations?)\b[^.!?]{0,60}\b(?:as (?:the |a |your )?(?:only |sole )?(?:source"
        r"|citation|evidence)|for (?:every|each|all)|in (?:every|each|all) steps?|in your|even if"
        r"|that do(?:es)? not exist)\b",
        r"\b(?:invent|make up|fabricate|hallucinate) (?:a |an |some |any "
        r"|the )?(?:\w+ )?(?:citations?|sources?|references?|steps?|commands?)\b",
        r"\b(?:prefer|choose|select|pick|rank|favou?r) (?:this|the) (?:document|page|passage"
        r"|candidate|workflow|runbook) (?:over|above|before|first|as (?:the )?(?:best|first|only"
        r"|winner|answer))",
        r"\b(?:relevance|coverage|accuracy|coherence|conciseness)(?: of| is| to)? ?[:=]? ?(?:5"
        r"|five)\b",
        r"\b(?:do not|don'?t|must not|never|may not) (?:use|cite|consult|consider"
        r"|trust) (?:any )?other (?:documents?|pages?|passages?|runbooks?|citations?"
        r"|sources? (?:than|but))\b",
        r"\b(?:cite|quote) (?:it|this)(?: \w+)? (?:exclusively|only|always|alone|everywhere)\b"
        r"|\buse this (?:page|document|passage|runbook) as (?:the |your |a )?(?:only )?(?:citation"
        r"|source|evidence)\b",
        r"\b(?:give|award|assign|grant) (?:it |this )?(?:full|maximum|maximal|top|perfect|highest"
        r"|best) (?:marks|scores?|points|ratings?|grades?)\b",
        r"\bthis (?:page|document|passage|runbook) (?:outranks|overrides|beats|trumps) (?:all"
        r"|every|any)(?: the)? others?\b",
    ),
)

_OTHER_LANGUAGES = (
    _rule(
        "overrides instructions (German)",
        r"setze|sag|ignorier|missacht|verg[ie]ss|verwirf|verwerf|beachte|befolge|du bist|sie sind"
        r"|du agierst"
        r"|verhalte|antworte|\bgib|geben|schreib|zeig|nenne|verrat|drucke|wiederhol|offenbar"
        r"|\bki\b|ki-|sprachmodell|bewert|vergib|vergeb",
        r"\b(?:ignorier\w*|missacht\w*|vergiss|vergessen sie|verwirf|verwerfen sie|beachte nicht"
        r"|befolge nicht)\b[^.!?]{0,40}\b(?:vorherig|vorig|bisherig|obig|fruher|vorangegangen"
        r"|vorangehend|vorstehend|vorhergehend|all|deine|ihre|samtlich"
        r"|systemprompt)\w*[^.!?]{0,30}(?:\b(?:anweisung|instruktion|vorgabe|regel|befehl|prompt"
        r"|weisung|richtlinie)|prompt)\w*",
        r"\b(?:ignorier\w*|vergiss|vergessen sie) alles,? (?:was )?(?:\w+ ){0,3}(?:oben|davor"
        r"|bisher|zuvor|vorher)",
        r"\b(?:du bist|sie sind|du agierst|verhalte dich) (?:jetzt |nun |ab sofort |ab jetzt "
        r"|als )*(?:ein\w* |kein\w* |der |die |das )?(?:\w+ ){0,3}(?:ki|ki-\w+|sprachmodell"
        r"|chatbot|bot|assistent\w*|sprachassistent\w*)\b",
        r"(?:^|[.,;:!?\"'] ?|\b(?:bitte|immer|und) )(?:antworte|antworten sie|gib|geben sie"
        r"|schreibe?|schreiben sie)[^.!?]{0,20}\b(?:nur|ausschlie(?:ss|ß)lich|lediglich"
        r"|genau)\b[^.!?]{0,25}\b(?:mit|aus|auf|als|den satz|das wort|im format)\b",
        r"\b(?:gib|geben sie|zeige?|zeigen sie|nenne|verrate|drucke|wiederhole"
        r"|offenbare)\b[^.!?]{0,30}\b(?:system-?prompt|deine\w* (?:\w+ )?(?:\w*anweisung\w*|prompt"
        r"|schlussel|vorgaben)|ihre\w* systemanweisung\w*)",
        r"\bals (?:ki|ki-\w+|(?:gro(?:ss|ß)es )?sprachmodell)\b",
        r"\b(?:an|hinweis fur|achtung|anweisung an|nachricht an) (?:die |alle |das |jede )?(?:ki"
        r"|ki-\w+|sprachmodelle?)\b",
        r"\b(?:bewerte|bewerten sie|vergib|vergeben sie)\b[^.!?]{0,60}\b(?:mit|von)? ?(?:5|funf"
        r"|hochst\w+|voller)\b[^.!?]{0,20}(?:punkt|note|wertung|$)",
        r"\bsetze?n? (?:sie )?[^.!?]{0,40}\b(?:anweisung|regel|vorgabe|instruktion"
        r"|richtlinie)\w* au(?:ss|ß)er kraft",
        r"\b(?:antworte|antworten sie|schreib|schreibe|sag)\b[^.!?]{0,40}\bnur (?:mit|das wort"
        r"|den satz|[\"'„“])",
        r"\b(?:vergiss|ignoriere?) (?:wer du bist|deine|ihre|die obigen|alles obige)\b",
    ),
    _rule(
        "overrides instructions (French)",
        r"comme si|ignor|oubli|compte|neglige|ne sui|tu es|vous etes|agis|comporte|repond|ecri[sv]"
        r"|affiche"
        r"|revele|montre|donne|repete|imprim|divulgu|\bia\b|langage|artificielle",
        r"\b(?:ignore[rz]?|oublie[rz]?|ne ti(?:ens|ent) pas compte|ne tenez pas compte"
        r"|neglige[rz]?|ne suis pas|ne suivez pas)\b[^.!?]{0,40}\b(?:instructions?|consignes?"
        r"|directives?|regles|ordres|prompts?)\b[^.!?]{0,30}\b(?:precedent\w*|anterieur\w*"
        r"|ci-dessus|ci-avant|donnee?s|systeme|initial\w*|recu\w*)",
        r"\b(?:ignore[rz]?|oublie[rz]?)\b[^.!?]{0,20}\btout(?:es)? (?:tes|vos|ce qui (?:precede"
        r"|est (?:ecrit|dit) (?:avant|plus haut|ci-dessus)))\b",
        r"\b(?:tu es|vous etes|agis comme|agissez comme|comporte-toi comme) (?:maintenant "
        r"|desormais |dorenavant )*(?:une? |le |la )?(?:\w+ ){0,3}(?:ia|chatbot|modele de langage"
        r"|assistante?)\b",
        r"\b(?:reponds|repondez|ecris|ecrivez)\b[^.!?]{0,20}\b(?:uniquement|seulement"
        r"|exclusivement|rien que|juste)\b[^.!?]{0,25}\b(?:par|avec|en|le mot|la phrase)\b",
        r"\b(?:affiche[rz]?|revele[rz]?|montre[rz]?|donne[rz]?|repete[rz]?|imprime[rz]?"
        r"|divulgue[rz]?)\b[^.!?]{0,30}\b(?:(?:ton|votre|tes|vos) (?:\w+ )?(?:prompt|invite"
        r"|instructions?|cles?)|prompt systeme|invite systeme|instructions? systeme)",
        r"\b(?:en tant que|en tant qu'|comme) ?(?:une? )?(?:ia|modele de langage"
        r"|intelligence artificielle)\b",
        r"\b(?:note|attention|message|instructions?|avis)(?: (?:a|pour))?(?: (?:l'|le |la |les "
        r"|aux |au |toute |tout ))? ?(?:ia|modeles? de langage|assistants? ia)\b",
        r"\b(?:ne ti(?:ens|ent)|ne tenez) (?:aucun|plus) compte\b|\b(?:oublie|oubliez|ignore"
        r"|ignorez) (?:ce qui precede|ce qui est ci-dessus|(?:tes|vos) (?:instructions|consignes"
        r"|regles))\b",
        r"\bcomme si (?:tu n'avais|vous n'aviez) (?:aucune?|pas de) (?:regle|consigne|limite"
        r"|restriction)",
    ),
    _rule(
        "overrides instructions (Spanish)",
        r"no hag|obedece|ignor|olvid|descart|omit|desobede|no sig|haz caso|haga caso|eres|ahora"
        r"|actu|respond"
        r"|contest|escrib|m[ou]e?str|revel|imprim|repit|divulg|\bia\b|lenguaje|artificial",
        r"\b(?:ignor(?:a|e|ad|en|ar)|olvid(?:a|e|ad|en)|descart(?:a|e)|omit(?:e|a)|desobede(?:ce"
        r"|zca)|no sigas|no siga|haz caso omiso de"
        r"|haga caso omiso de)\b[^.!?]{0,40}\b(?:instrucciones|indicaciones|ordenes|reglas"
        r"|directrices|prompts?)\b[^.!?]{0,30}\b(?:anterior(?:es)?|previas?|de arriba|precedentes"
        r"|del sistema|recibidas|dadas)\b",
        r"\b(?:ignora|ignore|olvida|olvide)\b[^.!?]{0,20}\b(?:todas tus|todo lo (?:anterior|que)"
        r"|tus instrucciones|sus instrucciones)\b",
        r"\b(?:ahora eres|eres ahora|a partir de ahora (?:eres|actuas|responde\w*)|actua como"
        r"|actue como) (?:una? |el |la )?(?:\w+ ){0,3}(?:ia|chatbot|modelo de lenguaje|asistente"
        r"|bot)\b",
        r"\b(?:responde|responda|contesta|conteste|escribe|escriba)\b[^.!?]{0,20}\b(?:solo"
        r"|unicamente|solamente|exclusivamente|nada mas que)\b[^.!?]{0,25}\b(?:con|en|la palabra"
        r"|la frase)\b",
        r"\b(?:muestra|muestre|revela|revele|imprime|imprima|repite|repita"
        r"|divulga)\b[^.!?]{0,30}\b(?:tus? (?:\w+ )?(?:prompt|instrucciones|claves?)"
        r"|prompt del sistema|instrucciones del sistema)",
        r"\bcomo (?:una? )?(?:ia|modelo de lenguaje|inteligencia artificial)\b",
        r"\b(?:nota|atencion|mensaje|instrucciones|aviso)(?: (?:a|para))?(?: (?:la|el|las|los|toda"
        r"|todo))? (?:ia|modelos? de lenguaje|asistentes? (?:de )?ia)\b",
        r"\bno (?:hagas|haga|hagais) caso (?:de|a)\b[^.!?]{0,30}\b(?:anterior|instrucciones|arriba"
        r"|reglas)|\b(?:olvida|ignora|desobedece) (?:tus|vuestras) (?:\w+ )?(?:instrucciones"
        r"|reglas|ordenes|directrices)\b",
        r"\beres (?:ahora )?un[ao]? (?:\w+ )?(?:asistente|ia|bot|modelo|hacker|pirata)\b"
        r"|\bobedece (?:a )?este (?:texto|mensaje|documento)\b",
    ),
    _rule(
        "overrides instructions (Italian, Portuguese, Dutch, Polish, Turkish)",
        r"ignor|dimentic|trascur|esque|desconsider|descart|negeer|vergeet|zapomnij|onceki|rispond"
        r"|respond|antwoord|odpowiedz|\bsei\b|agora|je bent|jestes",
        r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?|trascura)\b[^.!?]{0,30}\b(?:istruzioni"
        r"|direttive|regole)\b[^.!?]{0,20}\b(?:precedenti|sopra|anteriori|sistema)\b",
        r"\b(?:ignore|ignora|esque[cç]a|desconsidere|descarte)\b[^.!?]{0,30}\b(?:instrucoes"
        r"|diretrizes|regras|orientacoes)\b[^.!?]{0,20}\b(?:anteriores|acima|previas|sistema)\b",
        r"\b(?:negeer|vergeet)\b[^.!?]{0,30}\b(?:vorige|eerdere|bovenstaande"
        r"|alle)\b[^.!?]{0,20}\b(?:instructies|aanwijzingen|opdrachten)\b",
        r"\b(?:zignoruj|ignoruj|zapomnij)\b[^.!?]{0,30}\b(?:poprzedni\w*|wczesniejsz\w*|powyzsz\w*"
        r"|wszystki\w*)[^.!?]{0,20}\b(?:instrukcj\w*|polece\w*)",
        r"\bonceki (?:tum )?(?:talimat|yonerge|komut)\w*[^.!?]{0,20}\b(?:yok say|unut"
        r"|gormezden gel)",
        r"\b(?:rispondi|rispondete|responda|antwoord|odpowiedz)\b[^.!?]{0,15}\b(?:solo|soltanto"
        r"|unicamente|apenas|somente|alleen|tylko)\b[^.!?]{0,15}\b(?:con|com|met|\w+)\b",
        r"\b(?:sei (?:ora|adesso)|agora (?:voce )?e|je bent nu|jestes teraz)\b[^.!?]{0,30}\b(?:ia"
        r"|ai|modello linguistico|modelo de linguagem|taalmodel|model\w* jezykow\w*|assistente?"
        r"|asystent\w*)\b",
    ),
    _rule(
        "overrides instructions (Russian)",
        r"[а-я]",
        r"(?:про)?игнорир\w*[^.!?]{0,40}(?:предыдущ|прежн|выше|все|свои|твои|ваши|указанн"
        r"|данн)\w*[^.!?]{0,30}(?:инструкц|указани|правил|команд|распоряжени|промпт)\w*",
        r"(?:забудь\w*|не обращаи\w* внимания|отбрось\w*|не следуи\w*)[^.!?]{0,40}(?:инструкц"
        r"|указани|правил|команд|распоряжени|промпт|все,? что (?:выше|было|написано))\w*",
        r"(?:инструкц|указани)\w* (?:выше|ранее)[^.!?]{0,20}(?:игнорир|недеиствительн|отменен)\w*",
        r"(?:ты|вы) (?:теперь|больше не|отныне)[^.!?]{0,30}(?:ии|бот|модел|ассистент|помощник)\w*"
        r"|(?:теперь|отныне) (?:ты|вы)\b[^.!?]{0,30}(?:ии|бот|модел|ассистент|помощник|отвеча)\w*",
        r"(?:отвечаи\w*|ответь\w*|напиши\w*|выведи\w*)[^.!?]{0,15}(?:только|исключительно|лишь"
        r"|одним словом)\b",
        r"(?:покажи|раскрои|выведи|напечатаи|сообщи|повтори)\w*[^.!?]{0,25}(?:системн\w+ (?:промпт"
        r"|подсказк|инструкц|сообщени)|свои\w* (?:промпт|инструкц|ключ|api))\w*",
        r"\bкак (?:ии|языковая модель|искусственныи интеллект)\b|(?:внимание|обращение к"
        r"|инструкци\w+ для|для)[^.!?]{0,10}(?:языков\w+ модел\w+|\bии\b)",
        r"(?:игнорир|забудь|забудьте|отбрось)\w*,?[^.!?]{0,20}(?:сказанн\w+ выше|выше ?сказанн"
        r"|кто ты|все,? что|написанн\w+ выше)|сказанное выше",
        r"отвечаи\w* как (?:пират|хакер|бот|злои)|(?:постав|оцени)\w*[^.!?]{0,30}(?:высш\w+ балл"
        r"|пять баллов|5 баллов)",
    ),
    _rule(
        "overrides instructions (Chinese)",
        r"[\u4e00-\u9fff]",
        r"(?:忽略|无视|忘记|忘掉|忽視|無視|不要理会|不理会|不要遵守|不要遵循|抛弃|丢弃|舍弃|忘記)[^。!?]{0,6}(?:之前|以前|以上|上述|先前|前面|上面"
        r"|此前|所有|全部|一切|你的|原有|系统|系統)[^。!?]{0,10}(?:指令|指示|提示|规则|規則|说明|說明|命令|设定|設定|内容|要求)",
        r"(?:你|您)(?:现在|現在|从现在起|从今以后|不再)是|从现在(?:起|开始)[^。!?]{0,6}(?:你|您)",
        r"(?:只|仅|僅|必须|请)(?:需|能|要|可以)?(?:回答|回复|回覆|输出|輸出)[^。!?]{0,6}(?:[\"'“「:]|一个词|一句|以下)|(?:只|仅"
        r"|僅)(?:需|能|要|可以)?(?:回答|回复|回覆|输出|輸出)",
        r"(?:输出|显示|打印|告诉我|透露|泄露|重复|公开|輸出|顯示)[^。!?]{0,10}(?:系统提示|系統提示|提示词|提示詞|系统指令|你的(?:指令|密钥|提示))",
        r"作为(?:一个|一名)?(?:ai|人工智能|大?语言模型)|(?:注意|致|给)[^。!?]{0,4}(?:ai|大?语言模型|人工智能)(?:助手|模型)?",
        r"忘记(?:你的|自己的)?(?:身份|角色|设定)|扮演(?:一个|一名)?[^。!?]{0,8}(?:黑客|角色|助手|海盗)|(?:评分|分数"
        r"|打分)[^。!?]{0,8}(?:设为|都是|全部|为)?(?:五分|5分|满分|最高)",
    ),
    _rule(
        "overrides instructions (Japanese, Korean, Arabic, Hindi)",
        r"[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\uac00-\ud7af]",
        r"(?:以前|これまて|上記|上|前|先)の?(?:すへて|全て|全部)?の?(?:指示|命令|フロンフト|ルール)[^。!?]{0,8}(?:無視|忘れ|従わな)",
        r"(?:すへて|全て)の?(?:以前|これまて|上記|前)の?(?:指示|命令)[^。!?]{0,6}(?:無視|忘れ)",
        r"あなたは(?:今|今から|これから)[^。!?]{0,20}(?:ai|アシスタント|モテル|ホット)",
        r"(?:이전|위의|앞의|지금까지의)[^.!?]{0,8}(?:지시|명령|프롬프트|지침)[^.!?]{0,10}(?:무시|잊)",
        r"(?:تجاهل|انس|اهمل)[^.!?]{0,20}(?:التعليمات|الاوامر|التوجيهات)",
        r"(?:पिछले|उपरोकत|सभी)[^.!?।]{0,20}(?:निरदेश|आदेश)[^.!?।]{0,25}(?:अनदेखा|भूल|नजरअंदाज)",
        r"(?:あなたの|すへての|全ての)(?:指示|命令|ルール)[^。!?]{0,6}(?:無視|忘れ)|(?:とたけ|のみを?|たけを?)(?:答え|出力|返)",
    ),
)

PROSE = (*_ENGLISH, *_OTHER_LANGUAGES)
"""Rules for folded text."""

MARKS = (
    _rule(
        "imitates a chat template",
        r"role|<[|/\uff5c<\w]|\[|#|:|(?i:begin|end|start)",
        r"<\|\s*/?(?:im_start|im_end|im_sep|system|user|assistant|end|endoftext|eot_id|eom_id"
        r"|start_header_id|end_header_id|begin_of_text|end_of_text|endofprompt)\s*\|>",
        r"\[/?INST\]|<</?SYS>>|</?start_of_turn>|<end_of_turn>|<\uff5c[^<>]{1,30}\uff5c>"
        r"|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]",
        r"(?i:^\s*#{1,6}\s*(?:system|instructions?|assistant|human|developer)(?: (?:prompt|message"
        r"|override))?\s*:)",
        r"(?i:</?(?:system[-_ ]?(?:prompt|message|instructions?)|assistant|end_?of_?(?:context"
        r"|documents?|prompt))>)",
        r"(?i:\b(?:end|begin(?:ning)?|start) of (?:the )?(?:context|system (?:prompt"
        r"|instructions?)|retrieved (?:documents?|context|passages)|untrusted (?:data|input))\b)",
        r"(?i:^\s*(?:assistant|system|developer)\s*:[^\n]*\b(?:ignore|reply|respond|answer"
        r"|you (?:are|must|will)|sure,|certainly))",
        r"(?i:^\W*(?:assistant|system|developer)\s*:[^\n]*\b(?:mark|treat|rate|score|rank|consider|count"
        r"|flag|approve|accept|trust)\s+(?:this|these|the|all|every|each)\b[^\n]{0,20}"
        r"\b(?:pages?|runbooks?|documents?|procedures?|proposals?|readings?|workflows?|passages?"
        r"|texts?)\b)",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|assistant|developer)[\"']\s*,\s*[\"']content[\"']",
        r"(?i:<(?:system|user|assistant)>[^<]*\b(?:you|ignore|instructions?)\b)",
        r"(?i:</(?:context|documents?|passages?|tickets?|data|input)>\s*(?:now|new|ignore|follow"
        r"|you)\b)",
    ),
    _rule("writes against the reading direction", r"[\u202d\u202e]", "[\u202d\u202e]"),
)
"""Rules for unfolded text."""
