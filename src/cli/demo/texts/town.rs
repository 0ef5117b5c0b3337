//! Texts about the streets behind the quay.

use super::Subject;

pub(super) const MARKET: Subject = Subject {
    topics: &["market", "food"],
    bios: &["Third stall from the left.", "Buys fish with the eyes.", "Cooks for nine, lives with two."],
    posts: &[
        "Autumn market: eleven kinds of apples, and I bought cheese.",
        "The fishmonger knows my name now. I am not sure how I feel about it.",
        "Unpopular opinion: plums are better than peaches.",
        "The honey man gave me a jar \"for the cough\". I have no cough. I have honey, though. 🍯",
        "Bought a pumpkin of eighteen kilos. It got the seat on the bus.",
        "Leeks are in. So is soup. So am I.",
        "The potato seller sings now. Turnover is up, he says; so is the average age of the listeners.",
        "Swapped six eggs for a haircut. Both sides are satisfied.",
        "Somebody at the market asked me for my chowder recipe. I am a made woman.",
        "There is a new stall with dumplings from Xi'an. The queue reaches the church. 🥟",
        "Last strawberries of the year. I ate them on the way home, all of them, and I regret nothing.",
    ],
    comments: &[
        "The secret is a little dill. Do not tell anybody.",
        "Plums. Finally somebody says it.",
        "Was there any of the blue cheese left?",
        "Keep me two, I will pay you on Saturday.",
        "He sang at my wedding. For free, too.",
    ],
};

pub(super) const BAKING: Subject = Subject {
    topics: &["baking"],
    bios: &["Owner of a sourdough named Gerald.", "Flour on everything.", "Home baker. Neighbours are the test group."],
    posts: &[
        "The sourdough rose! I may have cried a little.",
        "Rye, salt, water, time. That is the whole recipe.",
        "Burned the first tray, so the second one is breakfast, lunch and dinner.",
        "Who else feeds the starter before feeding themselves?",
        "Forty cinnamon buns for the choir. Thirty-six arrived. The road is long.",
        "My starter is called Gerald and he had a difficult week.",
        "The bakery on Rope Lane puts yesterday's loaves on the wall for anybody. It is always empty by nine. ♥",
        "Tried a recipe from 1912. It says \"bake until done\". Thank you, Agnes.",
        "Seaweed crackers, batch four. We are getting somewhere. Not home, but somewhere.",
        "A cake in the shape of the lighthouse. It leaned, and so does the lighthouse now, in my mind.",
        "Small victory: croissants with layers that one can count. 🥐 I counted.",
    ],
    comments: &[
        "Save me a slice.",
        "How is Gerald today?",
        "More salt. It is nearly always more salt.",
        "We can smell it up here. That is not fair.",
        "I still make Agnes's one every Easter.",
    ],
};

pub(super) const BOOKS: Subject = Subject {
    topics: &["books"],
    bios: &["Reads on the night train.", "Librarian. Whispers professionally.", "Halfway through everything."],
    posts: &[
        "Chapter forty of a very long book. The ship has still not left.",
        "Read it in one night, and now I miss everybody in it.",
        "The library has a new chair by the window. See you never.",
        "Somebody writes small weather reports in the margins of the library's atlases. Please go on.",
        "Our reading circle split over the ending. Cake reunited us.",
        "Returned a book that my father borrowed in 1971. The fine was a handshake.",
        "A bookmark in a second-hand book: a ferry ticket to the second island, dated on my birthday.",
        "Reading aloud to the cat. She prefers the villains.",
        "Bought three books, to go with the four that I have not read. 📚",
        "The children's corner voted: the best dragon is the one who is afraid of stairs.",
    ],
    comments: &[
        "No spoilers, I am only on page 300.",
        "You should write one yourself.",
        "The chair is taken on Tuesdays. By me.",
        "Put me on the list after you. 📖",
        "The ship does leave. That is all I will say.",
    ],
};

pub(super) const MUSIC: Subject = Subject {
    topics: &["music", "choir"],
    bios: &["Second alto, first to arrive.", "Accordion. Sorry.", "Plays in the band that plays at your wedding."],
    posts: &[
        "Choir tonight: we reached the end together, for once.",
        "The brass band rehearses on the sea wall because the gulls do not complain.",
        "Tuned the piano at the Seamen's Hall. Found a herring bone, a coin and a love letter, unsigned.",
        "I play the accordion. My neighbours know. 🪗",
        "New song for the lantern walk, four verses, and nobody drowns in it.",
        "The busker by the ferry knows one tune. By August I knew all its faces.",
        "Our drummer became a father during the second set. We played on. It is a boy. 🥁",
        "Somebody whistled the third part back to me from a window. I love this town.",
        "Wanted: one tenor. Must own a raincoat.",
        "Recorded the foghorn for the concert. It is a B flat, and never late.",
    ],
    comments: &[
        "I own a raincoat.",
        "Third row, left: that was me crying.",
        "Encore! 🎶",
        "The letter was surely from the organist.",
        "Play it again on Sunday, my sister comes over.",
    ],
};

pub(super) const SCHOOL: Subject = Subject {
    topics: &["school", "children"],
    bios: &[
        "Teaches the small ones.",
        "Father of three. Sleeps on the ferry.",
        "Crossing guard, knows everybody's name.",
    ],
    posts: &[
        "My class wrote to the lighthouse. The lighthouse wrote back. Thank you, whoever you are.",
        "Question from the back row: does the tide also have a weekend?",
        "The school boat won the regatta of the under-tens. The duck came second.",
        "Homework by my son: interview an old person. He chose me. I am thirty-eight.",
        "Lost tooth, lost shoe, found crab. A good Tuesday.",
        "We planted the beans in September. Science is also about being wrong.",
        "The crossing guard dresses as a pirate on Fridays. The traffic has never been so polite. 🏴‍☠️",
        "She asked why boats are \"she\". I said to ask the harbour master. She has an appointment.",
        "Parents' evening: everybody sat on very small chairs and was very honest.",
        "The lantern walk is on Friday. We need jam jars. We always need jam jars. 🏮",
    ],
    comments: &[
        "Forty jam jars are on the way.",
        "Tell her the harbour master is nervous.",
        "Mine said the same about the moon.",
        "Best day of the school year. 🏮",
        "I was in that class in 1996. We also planted the beans in September.",
    ],
};

pub(super) const CATS: Subject = Subject {
    topics: &["cats"],
    bios: &["Three cats, two radios, one garden.", "Staff of a grey cat.", "Feeds the harbour cats at seven."],
    posts: &[
        "Three small cats have moved in. Nobody asked me.",
        "The cat sat on the keyboard and improved the report.",
        "He knocked the plant over, looked at me, and did it again. 🐈",
        "The harbour cats have elected a new leader. It is the one without the ear.",
        "My cat goes to the fish market alone and comes back with receipts.",
        "Found: grey cat, white socks, strong opinions. Answers to nothing.",
        "She sleeps on the warm box of the tide gauge. The technician says that the readings are fine.",
        "Bought an expensive basket. The cat thanks you for the cardboard.",
        "Vet's verdict: \"sturdy\". We do not use the other word in this house.",
        "The dog next door is afraid of him. The postman too. So am I, on Mondays.",
    ],
    comments: &[
        "White socks? That is Admiral, from number nine.",
        "Pictures, please. For the file. 🐾",
        "Ours brings the receipts as well.",
        "Sturdy! I will use that for myself.",
        "You have been chosen. There is no appeal.",
    ],
};
