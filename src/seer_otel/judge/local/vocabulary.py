"""
Word lists of the local judge, in several languages.

Words are written as `words.fold` leaves them: small letters, no accents. A word of grammar that
is a word of substance in another language ("war", "son", "die") is in no list: that it is common
shows in the passages.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words(
    # English
    """
    a about after all also am an and any anybody anyone anything are as at be because been before
    being both but by can could did do does doing done during else for from get got had has have
    having he her here hers him his how i if in into is it its itself just let lets like many may me
    might more most much must my need no not now of off on one only or other our out over own please
    same shall she should so some such tell than that the their them then there these they this
    those through to too under until up upon very want was we were what when where whether which
    while who whom whose why will with within without would you your s t m re ve ll d currently
    moment
    """
    # German
    """
    aber als am an auch auf aus bei beim bin bis bitte da damit dann das dass dem den der des dich
    dir du ein eine einem einen einer eines er es euch fur habe haben hat hatte ich ihm ihn ihr ihre
    im in ins ist ja kann kein keine konnen machen mein meine meinem meinen meiner mich mir mit
    muss nach nicht noch nun nur ob oder schon sein seine sich sie sind so uber um und uns unter
    viel viele vom von vor wann waren warum was welche welchem welchen welcher welches wenn wer
    werde werden wessen wie wird wir wo woher wohin wurde wurden zu zum zur zwischen darf durfen
    soll
    """
    # French
    """
    ai au aux avec avez avons c ce cela ces cet cette chez combien comment d dans de depuis des donc
    du elle en est et etait ete etre eu faut il ils j je l la le les leur leurs lui m ma mais me mes
    moi mon n ne nos notre nous on ont ou par pas peut peuvent plus pour pourquoi puis qu quand que
    quel quelle quelles quels qui quoi s sa sans se ses si sont sur t ta te tes toi ton tous tout
    toute toutes tu un une vos votre vous y a
    """
    # Spanish, Portuguese, Italian
    """
    al algun con como cual cuales cuando cuanta cuantas cuanto cuantos de del desde donde el ella
    ellos en entre era es esa ese eso esta este esto fue ha han hasta hay la las le les lo los
    mas me mi mis muy ni no nos o para pero por porque puede puedo que quien quienes se ser si
    sin sobre su sus tambien te tengo tiene tu un una uno y yo ao aos as com da das dela dele do
    dos e ela ele em essa esse esta estao eu foi isso ja mais mas me meu minha muito na nao nas
    nem nos num numa o os ou onde pela pelo pode podem posso qual quais quando quanta quantas
    quanto quantos quem sao sem seu sua tem ter um uma vai voce ad agli ai alla alle allo anche
    che chi ci col come cosa cui da dagli dai dal dalla degli dei del della delle dello di dove
    e ed era fra gli ha hanno i il io le lei lo loro lui ma mi mia mio nei nel nella nelle noi
    non per perche piu puo quale quali quanta quante quanti quanto quella quello questa questo
    sei si sono sta su sua sui sul sulla suo tra tutti un una voi
    """
    # Dutch
    """
    aan al als bij daar dat de deze dit een en er ge geen haar had heb hebben heeft hem
    het hier hij hoe hoeveel ik in is ja je jij jou jullie kan kon kunnen maar me mee meer met mij
    mijn moet moeten na naar niet nog nu of om ons ook op over te tegen toch toen tot u uit uw van
    veel voor waar waarom wanneer want waren was wat we wel welk welke werd wie wij wil word
    wordt ze zelf zich zij zijn zo zonder zou zullen
    """
    # Polish, Czech
    """
    albo ale bo byc byl byla bylo co czy czym dla do gdy gdzie go i ich ile im ja jak jaka jaki
    jakie jakiego jakiej jako je jego jej jest jestem juz kiedy kogo komu kto ktora ktore
    ktorego ktorej ktory ktorych ktorym lub ma mam mi mnie moge moj moja mozna na nad nie nim
    niz o od oraz po pod przed przez przy sa sie ta tak tam te tego tej to tu tylko w we wiec
    wszystkie z za ze zeby aby ale ano asi az bude by byt co dnes do ho jak jake jaky je jeho
    jeji jen jeste ji jsem jsou kam kde kdo kdy kdyz ke kolik ktera ktere ktery mezi mi muze na
    nebo neni od pak po pod podle pri pro proc proto s se si to tu u uz v vam vas ve vy z za ze
    """
    # Russian, Swedish, Danish, Norwegian
    """
    а без бы был была были было быть в вам вас весь во вот все вы где да для до его ее если есть еще
    же за и из или им их к как какая какие какои кем когда которая которые которыи кто ли мне можно
    мои мы на над не нет но ну о об он она они от по под при с сколько со так такои то только ты у
    уже чем что чтобы эта эти это я
    av ar att de dem den det dig din du ej eller en er ett for fran fra han har hon hur hva hvad
    hvem hvor hvordan i ikke ikki inte jag jeg kan med mig min nar og och om pa sa sig sin som
    til till var vad vem vi vilken vilket varfor
    """
)

GERMAN = _words("der das und ich wir wie ist nicht ein eine kann muss wann bei fur mit uns")
"""Words that show a text to be German, where two of them are in it."""

ALIASES = {
    "birth": "born",
    "birthplace": "born",
    "birthday": "born",
    "death": "die",
    "died": "die",
    "dead": "die",
    "dies": "die",
    "wife": "spouse",
    "husband": "spouse",
    "married": "spouse",
    "marriage": "spouse",
    "author": "wrote",
    "writer": "wrote",
    "written": "wrote",
    "write": "wrote",
    "writes": "wrote",
}
"""Words that a stem does not bring together, and that questions and answers mix."""

ASKING_WORDS = _words(
    """
    how what when where which who whom whose why
    wann warum was welche welchem welchen welcher welches wer wem wen wessen wie wieso wo wofur
    woher wohin womit wozu
    combien comment lequel laquelle lesquels lesquelles ou pourquoi quand quel quelle quelles quels
    qui quoi
    adonde como cual cuales cuando cuanta cuantas cuanto cuantos donde que quien quienes
    aonde onde qual quais quando quanta quantas quanto quantos quem porque
    che chi come cosa dove perche quale quali quante quanti
    hoe hoeveel waar waarom waarvoor wanneer wat welk welke wie
    co czego czemu czym czy dlaczego dokad gdzie ile jak jaka jaki jakie jakiego jakiej jakim kiedy
    kogo komu kto ktora ktore ktorego ktorej ktory ktorych ktorym skad
    ceho cim jaka jake jaky kam kde kdo kdy kolik ktera ktere ktery proc
    где зачем как какая какие какои когда кого кому кто куда откуда почему сколько чем что
    hur hva hvad hvem hvor hvordan hvorfor hvornar nar vad var varfor vem vilka vilken vilket
    """
)

ALSO_RELATIVE = _words(
    """
    where which who whom whose when wo was wer wie ou qui quoi que donde quien como onde quem quando
    che chi dove cui waar wat welke wie co gdzie kto ktora ktore ktory kde kdo ktera ktere ktery
    где как которыи что кто var vem
    """
)
"""Asking words that after a bare comma more likely begin a relative clause."""

ASKING_VERBS = _words(
    """
    am are can could did do does had has have is may must should was were will would
    darf durfen gibt habe haben ist kann konnen muss mussen sind soll sollte wird wurde
    kan krijg moet mag zijn heeft
    faut peut puis
    hay puede puedo
    pode posso
    puo posso
    czy moge mozna
    je jsou lze mohu
    """
)
"""Words that begin a question to be answered with yes or no."""

CONJUNCTIONS = _words("and or und oder et ou y e en i a oraz lub nebo и или och eller og")

STARTING_POINTS = _words("until till since bis seit ab hasta desde ate fino tot vanaf do od")
"""Words before "when" that make a question of it wherever it stands."""

SMALL_TALK = _words(
    """
    hello hi hey heya hiya howdy yo morning afternoon evening night good day bye goodbye cheers
    thanks thank thx ty you very much so a lot ok okay k cool great nice perfect awesome lol please
    welcome sorry again there everyone all fine yes no yep nope sure got it see later
    hallo moin servus gruss gott guten tag morgen abend danke vielen dank schon tschuss bitte ja
    nein
    bonjour salut bonsoir merci beaucoup au revoir coucou oui non
    hola buenos buenas dias tardes noches gracias muchas adios si vale
    ola oi bom boa dia tarde noite obrigado obrigada tchau
    ciao buongiorno buonasera grazie mille arrivederci salve
    goedemorgen goedemiddag goedenavond bedankt dank je wel u doei dag hoi
    czesc dzien dobry wieczor dziekuje dzieki bardzo na razie witam
    ahoj dobry den vecer dekuji diky nashledanou cau
    привет здравствуите добрыи день вечер спасибо большое пока
    hej tack tak takk hei
    你好 您好 谢谢 多谢 再见 早上好 晚上好 嗨 好的 大家好 谢谢你 谢谢您 非常感谢 哈喽
    こんにちは こんばんは おはよう おはようございます ありがとう ありがとうございます さようなら
    どうも 안녕하세요 안녕 감사합니다 고마워요 고맙습니다
    """
)
"""A text of these words alone asks for nothing that could be retrieved."""

PLEASANTRIES = (
    "how are you",
    "how is it going",
    "how s it going",
    "what s up",
    "how do you do",
    "wie geht s",
    "wie geht es dir",
    "wie geht es ihnen",
    "comment ca va",
    "ca va",
    "que tal",
    "como estas",
    "tudo bem",
    "come stai",
    "jak sie masz",
    "как дела",
)
"""Questions that are small talk too."""
