//! Conversations, told line by line.

use super::people::{BAKER, CAPTAIN, GAZETTE, KEEPER, NOODLES, RADIO, READER, SAILOR};
use super::texts::{BAKING, FERRY, TOWN};

/// A post with its comments.
pub(super) struct Thread {
    /// Index of the subject.
    pub(super) subject: usize,
    /// Age of the post, in minutes, when the community is made.
    pub(super) age: u64,
    /// The post, then the comments, each with the index of its author.
    pub(super) lines: &'static [(usize, &'static str)],
}

pub(super) const THREADS: &[Thread] = &[
    Thread {
        subject: BAKING,
        age: 95,
        lines: &[
            (
                BAKER,
                "The big oven died this morning, with 120 loaves waiting. The shop stays shut today. I am so sorry.",
            ),
            (NOODLES, "我的炉子早上空着，拿二十个过来。钥匙在老地方。"),
            (RADIO, "What did it say before it died? A click, or a bang?"),
            (BAKER, "A click, then a long sigh."),
            (RADIO, "Thermostat. Do not touch anything. I am on my bicycle."),
            (KEEPER, "The range up here takes eight loaves, if somebody carries them. 138 steps."),
            (READER, "I will carry them. With the right arm."),
            (SAILOR, "عندي فرن في الحديقة، يتّسع لعشرين. أشعلته الآن. 🔥"),
            (
                CAPTAIN,
                "The galley has room for twelve. Passengers will have to accept a smell of fresh bread. None has complained.",
            ),
            (RADIO, "It was the thermostat. It was one capacitor in the thermostat. It is always one capacitor."),
            (BAKER, "119 loaves sold, from five kitchens and a ferry. I have flour in my eyes. That is all it is."),
            (GAZETTE, "And the hundred and twentieth?"),
            (BAKER, "On the wall, as always, for anybody."),
        ],
    },
    Thread {
        subject: FERRY,
        age: 26 * 60,
        lines: &[
            (
                CAPTAIN,
                "An oar came aboard in the fog this morning. Blue paint, and a bite mark. Whose is it, and who bit it?",
            ),
            (SAILOR, "Blue, with a white ring? That is from the Nadia, my old boat. I sold her in spring."),
            (READER, "To whom?"),
            (SAILOR, "To a very polite man who said he would row to the third island."),
            (CAPTAIN, "There is no third island."),
            (SAILOR, "I told him so. He said: not yet."),
            (
                KEEPER,
                "I have had a lamp out there every night this week, low on the water, north of the mole. I took it for a buoy.",
            ),
            (RADIO, "Somebody says good night on channel 72 at nine. Just that. Good night. 📻"),
            (GAZETTE, "We have sent a reporter in a rowing boat. She has one oar."),
            (CAPTAIN, "Passed the sandbank at low water today. There is a chair on it. And a flag."),
            (BAKER, "Does he need bread?"),
            (
                CAPTAIN,
                "He has asked for two loaves and his oar. He says that the seal bit it, and that they have made up. 🦭",
            ),
            (KEEPER, "Third island, then. I will put it on the chart, in pencil."),
        ],
    },
    Thread {
        subject: TOWN,
        age: 3 * 24 * 60 + 200,
        lines: &[
            (READER, "A stranger has one hour in our town. Where do you send them? One place each, please."),
            (
                BAKER,
                "Rope Lane at five in the morning, by the vent of my oven. It is warm, and the street is all yours.",
            ),
            (CAPTAIN, "On my ferry, upper deck, first crossing. An hour is exactly there and back."),
            (NOODLES, "来我店里，坐靠窗的位置。面要等十分钟，正好看一艘船进港。🍜"),
            (KEEPER, "138 steps, then the gallery of the lighthouse. I make the tea if they carry the water."),
            (CAPTAIN, "Nobody has ever carried the water."),
            (KEEPER, "Robin did. Once. In 2011."),
            (READER, "And I have not been able to lift my left arm since."),
            (SAILOR, "آخر الرصيف، عند غروب الشمس. لا تقل شيئاً، فقط انظر. 🌅"),
            (
                RADIO,
                "The bench behind the radio club. No view at all, but on Thursdays somebody plays the accordion badly.",
            ),
            (BAKER, "That is the view."),
            (GAZETTE, "We are printing all of these on Saturday's back page, with a map."),
            (READER, "Then the bench will be full."),
            (RADIO, "Then he will have to practise."),
        ],
    },
];
