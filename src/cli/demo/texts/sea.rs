//! Texts about the water and what goes on it.

use super::Subject;

pub(super) const HARBOUR: Subject = Subject {
    topics: &["harbour"],
    bios: &[
        "Born within sight of the cranes.",
        "Harbour pilot, retired, still watching.",
        "Mends nets and tells stories.",
    ],
    posts: &[
        "The old harbour at six in the morning belongs to the gulls.",
        "They are painting the lighthouse again. Same white, new ladder.",
        "Somebody left a single oar on the pier. There must be a story.",
        "The crane on the east quay bows to every ship. I choose to believe that it means it.",
        "Two tugs, one freighter, and forty people on the quay who would all have done it differently.",
        "Found my initials under the third bollard, from 1988. I owe the harbour office an apology.",
        "The night watchman has taught the heron to wait for his sandwich.",
        "Every boat in the inner basin turned round at once. Somebody changed the wind.",
        "New rope on the pilot boat. It smells like the first day of school.",
        "A cruise ship asked for directions today. We pointed at the sea.",
        "If you need me, I am on the mole, pretending to fish.",
        "Sold my boat this morning. Went down at noon to see whether it misses me.",
    ],
    comments: &[
        "I was there too, by the blue boat.",
        "The harbour office will deny everything.",
        "My grandfather said the same, about the same bollard.",
        "Ask at the chandler's. They know who owns what, and since when.",
        "You can see it from our kitchen window. ⚓",
    ],
};

pub(super) const FERRY: Subject = Subject {
    topics: &["ferry", "harbour"],
    bios: &["Islander. On the six o'clock ferry, back row.", "Deckhand. Yes, the coffee is on.", "Commutes by water."],
    posts: &[
        "The six o'clock ferry, the back row, a thermos. Perfect.",
        "Ferry cancelled, so the whole island is in one café.",
        "A fog so thick today that the ferry rang its bell all the way in.",
        "A wedding got on at the second island. We are all invited now.",
        "Somebody has knitted a jumper for the ferry's anchor. It fits.",
        "The last boat waited four minutes for me. I will be kind to everybody this week.",
        "Counted on today's crossing: nine bicycles, two goats, one grand piano.",
        "The new timetable is out. The old one was already a work of fiction.",
        "Slept past my stop, which is impressive on a ferry with one stop.",
        "The children on deck asked the mate where the sea is kept at night.",
        "Rough crossing. The tea went to port and the biscuits to starboard.",
    ],
    comments: &[
        "We waved. You did not wave back.",
        "The back row is mine on Thursdays, as you know.",
        "Was that the boat with the goats? 🐐",
        "Take the early one, it is half empty.",
        "The mate told me the same, word for word.",
    ],
};

pub(super) const TIDEPOOLS: Subject = Subject {
    topics: &["tidepools", "sea"],
    bios: &[
        "Counts limpets, for science.",
        "Wet boots, happy face.",
        "Marine biologist on weekdays, tidepools on Sundays.",
    ],
    posts: &[
        "Low tide at noon: four anemones, a blenny and one very cross crab. 🦀",
        "The sea was flat as glass this morning. 🌊",
        "A seal looked at us for ten minutes. We looked back.\nNobody blinked.",
        "The hermit crab under the steps has moved into a bottle cap. We offered three shells. It is thinking.",
        "Year eleven of counting limpets on the same rock. 412. Last year 409. I am oddly proud.",
        "A starfish with six arms! Please do not tell me that this is common.",
        "If you turn a stone, turn it back. Somebody lives there.",
        "Sea glass today: green, green, brown, green, and one blue. The blue one stays with me.",
        "The octopus is back in the pool by the slipway. 🐙 Keep your keys in your pocket.",
        "Took the school class to the rocks. Nineteen wet left feet, not one wet right foot.",
        "Plankton in the bay tonight. Every oar stroke leaves a light behind it.",
    ],
    comments: &[
        "Which pool? The one by the slipway?",
        "We saw it on Sunday as well. 🦀",
        "I will bring the bucket and the small net.",
        "It winked at me once. Nobody believes me.",
        "Please put it into the count. Every one matters.",
    ],
};

pub(super) const SAILING: Subject = Subject {
    topics: &["sailing"],
    bios: &["Sails a boat older than the skipper.", "Crew wanted, cake provided.", "Always one knot short."],
    posts: &[
        "Launched her at last. Four years of varnish, eleven minutes of panic, one perfect afternoon. ⛵",
        "The bilge pump and I have reached an understanding: it works when I watch.",
        "Came third in the Wednesday race. There were three boats, but third is third.",
        "Lesson of the day: check the bung before the boat is in the water.",
        "Slept at anchor behind the second island. Heard nothing at all until the sheep.",
        "Would anybody swap a good anchor for an accordion? Asking on behalf of my neighbours.",
        "My daughter steered us home, and told me to sit down twice.",
        "The knot I tied in June came undone by itself today. It was time.",
        "Free to a good home: one mast, slightly too long for everything.",
        "Reefed early, arrived late, spilled nothing. ☕",
    ],
    comments: &[
        "I have the same pump. Hit it gently, on the left.",
        "Fair winds! Wave when you pass the mole.",
        "Crew of one available. Eats little, talks much.",
        "She looked beautiful from the sea wall.",
        "Next Wednesday I will come fourth, to keep you company.",
    ],
};

pub(super) const WEATHER: Subject = Subject {
    topics: &["weather"],
    bios: &["Amateur of clouds.", "Rain gauge on the roof since 1999.", "Asks the fishermen, then the forecast."],
    posts: &[
        "Seventeen kinds of rain in this town, and today we had eleven.",
        "The barometer fell so fast that I went to look behind it.",
        "Rainbow with one foot in the fish market. 🌈 Of course.",
        "The gulls are walking. Take the washing in.",
        "First frost. Somebody has drawn a face on every car in our street.",
        "Forecast: sunny spells. One spell so far, between 14:02 and 14:06. I was inside.",
        "Wind from the north-east. The whole town smells of toast.",
        "My grandmother's knee says storm, the app says sun. I am packing the big coat.",
        "Snow on the beach, and the sea pretending that it did not notice. ❄️",
        "Northern lights over the breakwater just now. I forgot to take a picture, and I do not mind.",
    ],
    comments: &[
        "Your grandmother's knee should have its own page.",
        "Here on the hill it was sideways.",
        "I had just hung the washing out.",
        "Saw it too, from the last bus. 🌈",
        "Eleven? I only had nine.",
    ],
};
