// Events whose content breaks readers that parse and write JSON again: one for each way to lose a byte.

import { type SimulatedEvent, uuidOf } from "./simulated-event.ts";

export interface HostileEvent extends SimulatedEvent {
  readonly name: string;
}

/** Only the `uuid` is added to these members; the listing carries the same text as the detail. */
const MEMBERS: readonly (readonly [name: string, members: string])[] = [
  ["an integer beyond 2^53", '"date":"2026-01-01","scope":"national","reach":9007199254740993'],
  ["a number beyond the range of doubles", '"date":"2026-01-01","reach":1e400,"low":-1E+400'],
  ["a number with a trailing zero", '"date":"2026-01-01","reach":1.10,"spend":1.0,"share":1E2'],
  ["minus zero", '"date":"2026-01-01","reach":-0,"spend":-0.0'],
  ["thirty digits", '"date":"2026-01-01","reach":123456789012345678901234567890.10'],
  [
    "keys that differ only by case",
    '"date":"2026-01-01","Date":"2026-01-02","DATE":null,"Uuid":"x","name":1,"Name":2',
  ],
  ["duplicate keys", '"date":"2026-01-01","date":"2026-01-02","tags":{"a":1,"a":1,"a":2}'],
  ["integer-like keys out of order", '"date":"2026-01-01","10":"ten","2":"two","1":{"3":3,"-1":-1,"0":0}'],
  [
    "line separators in a text and in a key",
    '"date":"2026-01-01","text":"a\u2028b\u2029c\u0085d","k\u2028\u0085":1',
  ],
  ["line separators in date and scope", '"date":"2026\u2028","scope":"a\u2029b\u0085c"'],
  ["escaped newlines", String.raw`"date":"2026-01-01","text":"a\nb\r\nc\td\u000ae\u2028f"`],
  ["a NUL escape", String.raw`"date":"2026-01-01","text":"a\u0000b","\u0000":0`],
  ["a lone surrogate escape", String.raw`"date":"2026-01-01","text":"a\ud800b","low":"\uDC00"`],
  ["a lone surrogate in date and scope", String.raw`"date":"\ud83d","scope":"x\udc00y"`],
  ["a text of 1 MB", `"date":"2026-01-01","text":"${"0123456789abcdef".repeat(65_536)}"`],
  [
    "a depth of 300",
    `"date":"2026-01-01","deep":${"[".repeat(150)}${'{"a":'.repeat(150)}1${"}".repeat(150)}${"]".repeat(150)}`,
  ],
  ["a null date", '"date":null,"scope":null'],
  ["no date and no scope", '"text":"neither"'],
  ["an object as date", '"date":{"from":"2026-01-01", "to": "2026-02-01"},"scope":"national"'],
  ["a number as date", '"date":20260101.10,"scope":false'],
  ["empty texts as date and scope", '"date":"","scope":""'],
  ["a nested scope", '"date":"2026-01-01","scope":{"regions":[{"id":1,"sectors":[2 , 3]}],"uuid":"decoy"}'],
  ["an array as scope", '"date":"2026-01-01","scope":["de" , "fr",[]]'],
  [
    "an indented body",
    '\r\n\t"date" :\t"2026-01-01" ,\r\n\t"text" : "two  blanks",\n\n\t"list" : [ 1 ,\t2 , { } , [ ] ]\r\n',
  ],
  [
    "emoji, raw and escaped",
    String.raw`"date":"2026-01-01","text":"👩‍👩‍👧 \ud83d\ude00 é e${"\u0301"}","🙂":"\u00e9"`,
  ],
  [
    "a __proto__ key",
    '"date":"2026-01-01","__proto__":{"polluted":true},"constructor":{"prototype":null},"toString":1',
  ],
  ["escaped key names", String.raw`"d\u0061te":"2026-01-01","sc\u006fpe":"national","\/":"\/"`],
  ["brackets and quotes in a text", String.raw`"date":"2026-01-01","text":"}]{[\",:\\","\"}":"\\"`],
  [
    "decoy uuids inside",
    '"date":"2026-01-01","data":{"uuid":"decoy","event":{"uuid":"decoy"}},"event":{"uuid":"decoy"}',
  ],
  ["control characters as escapes", String.raw`"date":"2026-01-01","text":"\b\f\u001f\u007f\ufeff\ufffe"`],
  ["white space that JSON does not know", '"date":"2026-01-01","text":"a\u00a0b\u3000c\ufeffd"'],
  ["SQL and formulas", `"date":"2026-01-01","text":"'; DROP TABLE events; --","cell":"=1+1","tab":"a\\tb"`],
];

export const hostileEvents = (): readonly HostileEvent[] => [
  ...MEMBERS.map(([name, members]) => {
    const uuid = uuidOf(`hostile ${name}`);
    const text = `{"uuid":"${uuid}",${members}}`;
    return { name, uuid, source: text, listing: text, listed: true, archived: false };
  }),
  upperCaseInTheList(),
  uuidLast(),
];

const upperCaseInTheList = (): HostileEvent => {
  const name = "an upper-case uuid in the list";
  const lower = uuidOf(`hostile ${name}`);
  const uuid = lower.toUpperCase();
  const source = `{"uuid":"${lower}","date":"2026-01-01"}`;
  return { name, uuid, source, listing: `{"uuid":"${uuid}"}`, listed: true, archived: false };
};

const uuidLast = (): HostileEvent => {
  const name = "an escaped uuid key at the very end";
  const uuid = uuidOf(`hostile ${name}`);
  const text = String.raw`{"scope":{"uuid":"decoy"},"date":"2026-01-01","\u0075uid":"${uuid}"}`;
  return { name, uuid, source: text, listing: text, listed: true, archived: false };
};
