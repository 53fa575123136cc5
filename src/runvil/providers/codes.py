"""Countries, languages and spans of time: the arguments' words, and what the vendors call them.

A country or language is any text of up to 128 characters (spec 2.3); what is no code has no word at any vendor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

DAYS: Mapping[str, int] = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
WORDS: Mapping[str, str] = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
"""freshness -> days, and the word that SearXNG, Tavily and Google have for it."""

_COUNTRY = re.compile(r"[A-Za-z]{2}")
_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z0-9]{2,8}))?(?:[-_][A-Za-z0-9]{1,8})*")


def today() -> date:
    return datetime.now(UTC).date()


def since(freshness: str) -> date:
    """The first day that is fresh."""
    return today() - timedelta(days=DAYS[freshness])


def upper(code: str | None) -> str | None:
    return None if code is None else code.upper()


def country_code(text: str | None) -> str | None:
    """An ISO 3166 code in lower case, or None. People write uk for gb."""
    if text is None or not _COUNTRY.fullmatch(text.strip()):
        return None
    code = text.strip().lower()
    return "gb" if code == "uk" else code


def language_tag(text: str | None) -> tuple[str, str] | None:
    """A language and its region or script, "" without one, in lower case; or None."""
    found = _LANGUAGE.fullmatch(text.strip()) if text is not None else None
    return None if found is None else (found[1].lower(), (found[2] or "").lower())


COUNTRY_NAMES: Mapping[str, str] = dict(
    line.split(" ", 1)
    for line in """\
ad andorra
ae united arab emirates
af afghanistan
al albania
am armenia
ao angola
ar argentina
at austria
au australia
az azerbaijan
ba bosnia and herzegovina
bb barbados
bd bangladesh
be belgium
bf burkina faso
bg bulgaria
bh bahrain
bj benin
bn brunei
bo bolivia
br brazil
bs bahamas
bt bhutan
bw botswana
by belarus
bz belize
ca canada
cf central african republic
cg congo
ch switzerland
cl chile
cm cameroon
cn china
co colombia
cr costa rica
cu cuba
cv cape verde
cy cyprus
cz czech republic
de germany
dj djibouti
dk denmark
do dominican republic
dz algeria
ec ecuador
ee estonia
eg egypt
er eritrea
es spain
et ethiopia
fi finland
fj fiji
fr france
ga gabon
gb united kingdom
ge georgia
gh ghana
gm gambia
gn guinea
gq equatorial guinea
gr greece
gt guatemala
gy guyana
hn honduras
hr croatia
ht haiti
hu hungary
id indonesia
ie ireland
il israel
in india
iq iraq
ir iran
is iceland
it italy
jm jamaica
jo jordan
jp japan
ke kenya
kg kyrgyzstan
kh cambodia
km comoros
kr south korea
kw kuwait
kz kazakhstan
lb lebanon
li liechtenstein
lk sri lanka
lr liberia
ls lesotho
lt lithuania
lu luxembourg
lv latvia
ly libya
ma morocco
mc monaco
md moldova
me montenegro
mg madagascar
mk north macedonia
ml mali
mm myanmar
mn mongolia
mr mauritania
mt malta
mu mauritius
mv maldives
mw malawi
mx mexico
my malaysia
mz mozambique
na namibia
ne niger
ng nigeria
ni nicaragua
nl netherlands
no norway
np nepal
nz new zealand
om oman
pa panama
pe peru
pg papua new guinea
ph philippines
pk pakistan
pl poland
pt portugal
py paraguay
qa qatar
ro romania
rs serbia
ru russia
rw rwanda
sa saudi arabia
sd sudan
se sweden
sg singapore
si slovenia
sk slovakia
sn senegal
so somalia
ss south sudan
sv el salvador
sy syria
td chad
tg togo
th thailand
tj tajikistan
tm turkmenistan
tn tunisia
tr turkey
tt trinidad and tobago
tw taiwan
tz tanzania
ua ukraine
ug uganda
us united states
uy uruguay
uz uzbekistan
ve venezuela
vn vietnam
ye yemen
za south africa
zm zambia
zw zimbabwe""".splitlines()
)
"""ISO 3166 code -> the English name that Tavily takes."""
