//! Texts about ways, work and gardens.

use super::Subject;

pub(super) const CYCLING: Subject = Subject {
    topics: &["cycling", "commute"],
    bios: &["Rides to work, whatever the weather.", "Two wheels, one lung.", "Post by cargo bike."],
    posts: &[
        "New bicycle, old hill. The hill won.",
        "Forty kilometres before breakfast, and the wind was against me both ways.",
        "Can anybody recommend lights that survive the rain?",
        "Day three of cycling to work. My knees have opinions.",
        "The new cycle path ends at a wall. A very well-made wall.",
        "Passed the number 4 bus on the hill today. We both know that it had stopped.",
        "Delivered a sofa by cargo bike. I was offered a seat on arrival.",
        "A gull followed me for two kilometres. It was the sandwich. It is always the sandwich.",
        "To the person who pumped up my tyre outside the library: you made my week.",
        "Learned to ride without hands, at fifty-one. My son has asked me not to post about it.",
    ],
    comments: &[
        "The hill always wins. Take the steps.",
        "Dynamo lights. Never looked back, could not see before.",
        "It was me at the library. You are welcome.",
        "Which wall? Oh. That wall.",
        "Ring when you pass, I will put the kettle on. 🚲",
    ],
};

pub(super) const RUNNING: Subject = Subject {
    topics: &["running"],
    bios: &["Marathon: one. Plans: more.", "Runs with the dog, or after him.", "Slow, but early."],
    posts: &[
        "My first marathon: finished, smiling, last but eleven.",
        "Ran along the sea wall until the rain turned sideways.",
        "Twelve kilometres today. The dog did fifteen, in circles.",
        "Ran to the lighthouse and back. The keeper gave me a time and a pear.",
        "New rule: if there is a bakery on the way, it counts as altitude.",
        "Overtaken by a man with a pram, a dog and a phone call. Hats off. 🏃",
        "The Sunday group is eight people now. We started as a bet.",
        "Got lost in the dunes. Added five kilometres and one friend.",
        "Intervals on the fish market steps. The fishwives cheer for everybody. It helps.",
        "Rest day. I walked to the fridge with good form.",
    ],
    comments: &[
        "Last but eleven is eleven people!",
        "What kind of pear?",
        "Sunday at eight, by the anchor. I am in.",
        "The man with the pram is my brother. He apologises.",
        "Good form is everything. 😄",
    ],
};

pub(super) const TRAINS: Subject = Subject {
    topics: &["trains", "travel"],
    bios: &["Collects timetables, and delays.", "Signal box, nights.", "Away, or on the way back."],
    posts: &[
        "The night train is late, and nobody in the dining car minds.",
        "Woke up in another country. I love this sleeper.",
        "Missed the last tram, found a better way home.",
        "A timetable from 1934, two coins at the flea market. Best day.",
        "The conductor announced the sea on the left \"as usual, but look anyway\". Everybody looked.",
        "Our station has one platform and two clocks. They have never agreed.",
        "Shared a compartment with a cellist and a cheese. Both excellent company.",
        "The branch line reopens in spring, after thirty years. My mother has already bought a hat.",
        "Window seat, thermos, eleven tunnels. I had forgotten how to do nothing.",
        "Postcard to myself from Trieste. It arrived before me. 🚂",
    ],
    comments: &[
        "The clock on the left is right.",
        "I was the cheese. I mean, I brought it.",
        "Look anyway. That is good advice.",
        "My mother has also bought a hat. This may become a problem.",
        "Bring me one from the next station.",
    ],
};

pub(super) const REPAIR: Subject = Subject {
    topics: &["radio", "repair"],
    bios: &["Repairs what others throw away.", "Listens to the far end of the dial.", "It is always one capacitor."],
    posts: &[
        "The broken radio plays again. It was one capacitor. It is always one capacitor.",
        "Picked up a station from across the ocean tonight, faint as a moth.",
        "Repair café on Saturday: bring what hums, rattles or smokes.",
        "Repaired today: four toasters, a music box, and a friendship of thirty years. The toasters were harder.",
        "The foghorn's amplifier is on my kitchen table. Nobody in this house may press anything.",
        "A boy brought his grandfather's watch. It ticks. We both needed a minute. ⏱️",
        "Learned to solder at seventy. My grandchildren hold the lamp.",
        "There is always a screw left over. I keep them in a jar, with the dates.",
        "Heard the coastguard wish the lightship a happy birthday on channel 16. Strictly forbidden. Lovely. 📻",
        "The church clock struck thirteen again. I am going up with the small hammer.",
    ],
    comments: &[
        "Mine smokes. May it come too?",
        "I counted thirteen as well. I blamed the wine.",
        "You could sell that jar as a work of art.",
        "What frequency? I heard it fade at nine. 📻",
        "Thank you again for the toaster.",
    ],
};

pub(super) const GARDEN: Subject = Subject {
    topics: &["garden"],
    bios: &[
        "At war with the slugs, since 2007.",
        "Allotment 14, the one with the bathtub.",
        "Beans first, then the rest of life.",
    ],
    posts: &[
        "First tomato of the year. We shared it in four parts. 🍅",
        "The slugs send their regards.",
        "Planted a pear tree for somebody who is one year old today.",
        "Salt wind took the sunflowers. They are now leaning on the neighbours, as we all do.",
        "Seaweed on the beds, as my grandfather did. The kale approves, the nose does not.",
        "The scarecrow has been given a scarf. Nobody admits it.",
        "The courgettes have started. Lock your cars, or you will find some on the seat.",
        "A hedgehog lives under the bathtub on allotment 14. Rent: one slug a day. 🦔",
        "Swapped rhubarb for a wheelbarrow. Swapped the wheelbarrow for more rhubarb. I see my mistake.",
        "There are forty-one bees on the lavender. I had time.",
    ],
    comments: &[
        "We found six courgettes in ours. Was that you?",
        "Beer traps. For the slugs, then for you.",
        "Happy birthday to the pear tree!",
        "I may know something about the scarf. 🧣",
        "Forty-two. One was behind you.",
    ],
};
