//! Texts of the accounts that are no persons, and of those who write Chinese or Arabic.

use super::Subject;

/// The gazette.
pub(super) const NEWS: Subject = Subject {
    topics: &["news", "harbour"],
    bios: &["News of the harbour, since 1871."],
    posts: &[
        "Harbour: the crane on the east quay is under repair until Friday.",
        "The ferry to the islands runs every hour from today.",
        "Council: the new cycle path along the sea wall is to open in spring.",
        "Weather: wind from the west, force five, rain after dark.",
        "Market square: the autumn market begins on Saturday at eight.",
        "Found: one left shoe and three kites. The harbour office has them all.",
        "Correction: the whale in yesterday's edition was a rock. We regret the excitement.",
        "Council: the bench by the lighthouse stays. 612 signatures, one of them by a dog.",
        "Arrivals: the three-masted Esperança, with school children and cocoa. Open deck on Sunday.",
        "The library opens on Sundays from November. The new chair is first come, first served.",
        "Obituary: the old horse chestnut on Rope Lane, about 160 years. Conkers may be collected.",
        "Sport: Harbour Rowing beats the islands by a nose. The nose belongs to the cox.",
        "Repair: the church clock has been stopped so that it is right twice a day for certain.",
        "Notice: the swing bridge opens at 11:20 for the dredger. Bring a book.",
        "Fish landed today: 4.2 tonnes, mostly mackerel. Price: ask nicely.",
        "School: the lantern walk starts at the fountain on Friday at six. Jam jars are still wanted.",
        "The tide gauge celebrates its 150th birthday. It rose to the occasion.",
        "Lost: a grey cat with white socks. Update: found. Update: lost again.",
        "Letters: \"Who painted the bollards pink, and will they do the rest?\" (nine readers)",
        "Lifeboat: two calls this week, everybody home. Thank you, crew. 🛟",
        "Shipping: fog expected off the mole before dawn. The foghorn apologises in advance.",
        "Culture: the film club shows a silent film; the brass band promises to be quiet, mostly.",
    ],
    comments: &[
        "Thank you for the correction. I liked the whale better.",
        "I signed. So did the dog.",
        "About time.",
        "Nine readers? I wrote four of those letters.",
        "Will there be cocoa for adults?",
        "Finally some good news. ☀️",
    ],
};

/// The fish bar, whose readers are tired of it.
pub(super) const ADVERTS: Subject = Subject {
    topics: &["offers"],
    bios: &["OPEN NOW. AND NOW. AND NOW. 🐟"],
    posts: &[
        "🐟 FRIED FISH, HALF PRICE! 🐟 UNTIL FIVE! 🐟 OR SIX! 🐟",
        "Have you had fish today? HAVE YOU? 🐟🐟🐟",
        "Tag three friends and win a FREE lemon slice! 🍋",
        "Our competitors say that our sign is too bright. COME AND SEE IT. FROM ANYWHERE.",
        "Buy nine portions, get the tenth at the price of the first nine! 🎉",
        "LAST DAY of the offer that we made yesterday, and that we will make tomorrow!!!",
        "Our chips have been awarded second prize. Ask us by whom. 🥈",
        "It is raining! You know what goes with rain? FISH. 🐟",
        "It is sunny! You know what goes with sun? FISH. 🐟",
        "We have been asked to post less often. Here is a post about that. 🐟",
    ],
    comments: &[
        "Please stop.",
        "The chips are good, to be fair.",
        "I can see the sign from the islands.",
        "Muted. Kindly.",
    ],
};

/// The open conversations.
pub(super) const TOWN: Subject = Subject {
    topics: &["town"],
    bios: &[],
    posts: &[],
    comments: &["The lighthouse. Always the lighthouse.", "Behind the fish market, on the steps."],
};

/// The clock, whose posts are made from the time.
pub(super) const TIDE: Subject = Subject {
    topics: &["tide"],
    bios: &["The height of the water, every few seconds."],
    posts: &[],
    comments: &["Thank you, clock.", "Time to move the car.", "The steps by the slipway are wet, can confirm."],
};

pub(super) const CHINESE: Subject = Subject {
    topics: &["海边"],
    bios: &["住在海边，喜欢散步。", "面馆老板，欢迎来坐。", "早起看日出，晚上修收音机。"],
    posts: &[
        "清晨的老港口，只有海鸥。",
        "今天的雾太大，渡轮一路鸣着铃进港。",
        "终于跑完了人生第一个马拉松！",
        "面包发起来了，满屋子都是麦香。",
        "退潮的时候，在礁石间看到一只小海豹。🌊",
        "末班电车走了，干脆沿着海边走回家。",
        "新开的饺子摊排队排到教堂门口，老板是西安人，聊了半天家乡话。🥟",
        "奶奶第一次看见大海，站了很久，说：“原来这么响。”",
        "今天教邻居包粽子，他教我打水手结。两样都散了。",
        "码头上的猫认得我的自行车铃声了。",
        "下了一夜的雨，早上整条街都在发光。",
        "给灯塔写了一封信，居然收到了回信。",
        "潮水线上捡到一块蓝色的海玻璃，放在窗台上。",
        "中秋的月亮升到桅杆上面了，给家里打了个电话。🌕",
        "修好了爷爷的收音机，第一声是天气预报。",
        "在渡轮上睡着了，被一只山羊叫醒。",
        "图书馆的新椅子太舒服，书一页没看。",
        "市场的阿姨多给了我一把葱，今天是个好日子。",
        "港口的晚霞像一碗番茄汤。",
        "孩子问我：潮水周末休息吗？我说去问潮钟。",
        "风大得连海鸥都在走路。",
        "合唱团缺一个男高音，我只有一件雨衣。",
        "第一次在这里过冬，海边居然会下雪。❄️",
        "阳台上的小葱活下来了，比我坚强。",
    ],
    comments: &[
        "好漂亮！",
        "我也看到了！",
        "下次叫上我。",
        "哈哈，太真实了。",
        "求菜谱！",
        "祝贺祝贺！🎉",
        "那只猫也认得我。",
        "看饿了。🥟",
    ],
};

pub(super) const ARABIC: Subject = Subject {
    topics: &["البحر"],
    bios: &["قهوة وبحر وكتاب.", "خبّاز في حارة الحبال."],
    posts: &[
        "صباح الخير من الميناء القديم. البحر هادئ والنوارس ليست كذلك.",
        "فنجان قهوة على الرصيف قبل أن تستيقظ المدينة. ☕",
        "تأخرت العبّارة بسبب الضباب، فتعارفنا جميعاً.",
        "خبزت أمي اليوم ووزّعنا على الجيران. عادت الصحون ممتلئة.",
        "القمر الليلة قريب جداً من المنارة. 🌙",
        "سألني طفل: أين ينام البحر؟",
        "وجدت دكاناً يبيع الزعتر في آخر السوق. كأنني في البيت.",
        "أصلحنا الراديو القديم، وأول ما سمعناه كان أغنية يحبها جدي.",
        "شجرة الليمون أثمرت أخيراً: ليمونة واحدة، لكنها لي. 🍋",
        "تعلمت اليوم عقدة بحّارة جديدة، ونسيت اثنتين.",
        "المطر على سقف السوق أجمل موسيقى.",
        "عاد الصيادون، وعادت القطط إلى العمل. 🐈",
        "رأيت فقمة تنظر إلينا كأننا نحن المعرض.",
        "في آخر الرصيف مقعد يتّسع لاثنين. تعالوا.",
    ],
    comments: &[
        "ما شاء الله!",
        "جميل جداً 🌊",
        "سلّم لنا على البحر.",
        "احجز لي مكاناً.",
        "صباح النور! ☕",
        "ذكّرتني بالبيت.",
    ],
};

/// Comments that fit any post.
pub(super) const ANY: &[&str] = &[
    "Same here!",
    "This made my morning.",
    "I will bring the coffee.",
    "You should write a book.",
    "Never again, you said. 😄",
    "Reading this in the queue at the post office, laughing alone.",
    "My neighbour told me about this. It is even better in your words.",
    "And then what happened?",
    "I needed this today, thank you.",
    "Say hello from number twelve.",
    "Only here. I would not want to live anywhere else.",
    "My mother wants to know more. So do I, but she asks louder.",
    "👏👏",
    "I have been saying so for years.",
    "Well, now I have to go and see for myself.",
    "We should talk about this over soup.",
    "I am telling this one at dinner.",
    "You are all far too awake for this hour.",
    "Count me in.",
    "I laughed so much that the ferry looked at me.",
    "That sounds like a Tuesday.",
    "This belongs in the Gazette.",
    "Oh, I know that feeling well.",
    "Somebody give this person a biscuit. 🍪",
];

/// Words above a repost.
pub(super) const REMARKS: &[&str] = &[
    "This.",
    "For everybody who missed it:",
    "My favourite of the week.",
    "Sharing, because my aunt does not believe me.",
    "Read the comments too.",
    "I laughed out loud in the library. Sorry, library.",
    "Somebody here must know more about this.",
    "The whole town in one post.",
    "Again, for those on the islands.",
    "⬇️ Worth the ten seconds.",
    "I was standing next to it and saw nothing.",
    "Saving this for a grey day.",
    "Could not have said it better.",
    "Dear brother, this is about you.",
];
