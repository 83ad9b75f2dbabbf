// The parts of the player that need no page. tests/ui/test_player.py has Node run this.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { plainText, textsAt, unpackFrames } from "../../ui/web/player/frames.js";
import { fitFigure, gestureOf, stepAt } from "../../ui/web/player/geometry.js";
import { STEP_KEYS, actionOf, numbers } from "../../ui/web/player/keys.js";
import { Pages } from "../../ui/web/player/pages.js";
import { Replay } from "../../ui/web/player/replay.js";
import { MOVES, beatOf, clampStep, partAfter } from "../../ui/web/player/steps.js";
import { Pinch, Wheel, apart, levelBeside, nameOf } from "../../ui/web/player/zoom.js";
import { inUnits } from "../../ui/web/stepper/viewport.js";
import { Reports, addressAt } from "../../ui/web/stepper/reports.js";
import { Zooming } from "../../ui/web/stepper/zooming.js";

const packed = (count) => ({
  steps: Array.from({ length: count }, (_, n) => [String(n), `Step ${n}`, n ? [] : [3, 0], [], []]),
  texts: [["a"]], shapes: [],
});

test("a frame shares with those before it what it does not change", () => {
  const frames = unpackFrames({
    steps: [["0", "Step 1", [3, 0, 5, 1], [0, 0, 1, 0], []], ["1", "Step 2", [5, 0], [1, 1], []]],
    texts: [["a"], ["b"]], shapes: ["idle", "hot"],
  });
  assert.deepEqual(frames.map((frame) => frame.layout.shapes), [["idle", "idle"], ["idle", "hot"]]);
  assert.deepEqual(textsAt(frames, 0), [[3, ["a"]], [5, ["b"]]]);
  assert.deepEqual(textsAt(frames, 1), [[3, ["a"]], [5, ["a"]]]);
  assert.equal(plainText("<b>i &lt; n</b> &amp;"), "i < n &");
});

test("each action leads to its step", () => {
  const stops = {
    steps: 20, beat: [3, 7, 8, 11, 12, 17], outer: [0, 2, 10, 15, 18], inner: [4, 6, 12], barrier: [8],
  };
  for (const [action, from, to] of [
    ["first", 7, 0], ["last", 7, 19], ["statement-back", 7, 6], ["statement-back", 0, 0],
    ["statement-forward", 7, 8], ["statement-forward", 19, 19],
    ["forward", 0, 3], ["forward", 3, 7], ["forward", 9, 11], ["forward", 17, 19], ["forward", 19, 19],
    ["back", 19, 17], ["back", 9, 8], ["back", 7, 3], ["back", 3, 0], ["back", 0, 0],
    ["outer-forward", 0, 3], ["outer-forward", 3, 11], ["outer-forward", 11, 17],
    ["outer-forward", 17, 19], ["outer-back", 17, 11], ["outer-back", 10, 3], ["outer-back", 3, 0],
    ["inner-forward", 5, 6], ["inner-back", 6, 4], ["barrier", 0, 8], ["barrier", 8, 19],
  ]) assert.equal(clampStep(MOVES[action](from, stops), stops), to, `${action} from ${from}`);
});

test("bookkeeping belongs to the beat after it, and after the last to that", () => {
  const beat = [3, 7, 8];
  const found = [0, 3, 4, 7, 8, 9].map((step) => beatOf(step, { beat }));
  assert.deepEqual(found, [1, 1, 2, 2, 3, 3]);
  assert.equal(beatOf(0, { beat: [] }), 0);
});

test("a statement's parts come one after another, from either end", () => {
  for (const [part, by, count, then] of [
    [null, 1, 3, 0], [0, 1, 3, 1], [2, 1, 3, null], [null, -1, 3, 2], [0, -1, 3, null],
    [null, 1, 0, null], [null, -1, 0, null],
  ]) assert.equal(partAfter(part, by, count), then, `${part} ${by} of ${count}`);
});

test("a key has the action of its name, with Shift the inner loop's", () => {
  for (const [key, shiftKey, action] of [
    ["ArrowRight", false, "forward"], ["ArrowRight", true, "inner-forward"],
    ["ArrowLeft", true, "inner-back"], ["ArrowDown", false, "statement-forward"],
    ["ArrowUp", true, "statement-back"], ["Home", true, "first"], [" ", false, "play"],
    ["B", true, "barrier"], ["b", false, "barrier"], [">", true, "faster"], [".", false, "part-forward"], ["x", false, undefined],
  ]) assert.equal(actionOf({ key, shiftKey }, STEP_KEYS), action);
});

test("digits make a number, which is complete with Enter or after a pause", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const jumps = [];
  const typed = numbers((n) => jumps.push(n));
  assert.deepEqual([..."12"].map(typed), [true, true]);
  assert.ok(typed("Enter"));
  assert.deepEqual(jumps, [12]);
  assert.ok(!typed("Enter"), "there is no number any more");
  for (const digit of "70") {
    typed(digit);
    t.mock.timers.tick(799);
  }
  assert.deepEqual(jumps, [12]);
  t.mock.timers.tick(1);
  assert.deepEqual(jumps, [12, 70]);
  typed("3");
  assert.ok(!typed("x"));
  t.mock.timers.tick(800);
  assert.deepEqual(jumps, [12, 70], "another key drops the number");
});

test("the pages beside a step are requested, one at a time", () => {
  const ask = mock.fn();
  const asked = () => ask.mock.calls.map((call) => call.arguments[0]);
  const pages = new Pages(30, ask);
  pages.add({ first: 10, end: 20, frames: packed(10) });
  pages.requestNearer(12);
  pages.requestNearer(17);
  pages.requestBeside(12);
  assert.deepEqual(asked(), [9], "nothing else while a page is on its way");
  pages.add({ first: 0, end: 10, frames: packed(10) });
  assert.equal(pages.asked, null);
  pages.requestNearer(12);
  pages.requestNearer(17);
  assert.deepEqual(asked(), [9, 20]);
  pages.request(25);
  pages.request(25);
  assert.deepEqual(asked(), [9, 20, 25], "a step without a page does not wait for another");
  pages.add({ first: 20, end: 30, frames: packed(10) });
  for (const step of [0, 15, 29]) pages.requestBeside(step);
  assert.deepEqual(asked(), [9, 20, 25], "there are no steps beyond the last");
});

test("a page takes the place of those within it", () => {
  const pages = new Pages(30);
  pages.add({ first: 10, end: 20, frames: packed(10) });
  const page = pages.at(12);
  pages.add({ first: 12, end: 15, frames: packed(3) });
  assert.equal(pages.at(12), page);
  pages.add({ first: 5, end: 25, frames: packed(20) });
  assert.deepEqual([pages.at(4), pages.at(12).first, pages.at(25)], [undefined, 5, undefined]);
});

function replayAt(time) {
  const clock = { time };
  return [new Replay(() => clock.time), clock];
}

test("keys since the last choice are pressed again in the scene that comes", () => {
  const [replay] = replayAt(0);
  replay.add("forward", true);
  replay.forget(); // another kernel was chosen
  replay.add("last", true);
  replay.add(7, true);
  assert.deepEqual(replay.open(2, 4), { step: 4, keys: ["last", 7] });
  assert.deepEqual(replay.open(3, 0), { step: 0, keys: [] }, "but in no later one");
});

test("a key is not for a scene that comes too late", () => {
  const [replay, clock] = replayAt(0);
  replay.add("last", true);
  clock.time = 1;
  replay.add("back", true);
  clock.time = 20000;
  assert.deepEqual(replay.open(2, 4).keys, ["back"]);
});

test("a player that takes over a drawn scene continues at its step", () => {
  const [old] = replayAt(0);
  old.add("forward", true);
  const [replay] = replayAt(0);
  replay.takeOver(old.handOver({ order: 1, step: 9 }));
  replay.add("back", false);
  assert.deepEqual(replay.open(1, 4), { step: 9, keys: ["back"] }, "what took effect is not repeated");
  assert.deepEqual(replay.open(2, 0), { step: 0, keys: ["forward", "back"] }, "but in the next scene");
});

test("a player that takes over draws another scene: it begins at its start, with all keys", () => {
  const [old] = replayAt(0);
  old.add("forward", true);
  const [replay] = replayAt(0);
  replay.takeOver(old.handOver({ order: 1, step: 9 }));
  assert.deepEqual(replay.open(2, 4), { step: 4, keys: ["forward"] });
});

test("a player that has drawn nothing hands on what it took over", () => {
  const [[first], [second], [third]] = [replayAt(0), replayAt(0), replayAt(0)];
  first.add("forward", true);
  second.takeOver(first.handOver({ order: 1, step: 9 }));
  second.add("back", false);
  third.takeOver(second.handOver(null));
  assert.deepEqual(third.open(1, 4), { step: 9, keys: ["back"] });
  const [fourth] = replayAt(0);
  fourth.takeOver(third.handOver({ order: 1, step: 8 }));
  assert.deepEqual(fourth.open(1, 4), { step: 8, keys: [] }, "each key has taken effect");
  assert.deepEqual(fourth.open(2, 0).keys, ["forward", "back"]);
});

test("a figure fits its viewport, and a tall one the width alone", () => {
  const timeline = { left: 10, top: 80, right: 190, bottom: 90 };
  const figure = { width: 200, height: 100, meta: { timeline } };
  assert.deepEqual(fitFigure(figure, { width: 500, height: 200 }), {
    scale: 2, left: 50, height: 200, bar: { left: 70, top: 160, width: 360, height: 20 },
  });
  assert.equal(fitFigure(figure, { width: 500, height: 200 }, 1).scale, 1);
  const tall = fitFigure({ width: 200, height: 900, meta: { tall: true } }, { width: 400, height: 200 });
  assert.deepEqual(tall, { scale: 2, left: 0, height: 1800, bar: undefined });
  assert.equal(stepAt(150, { left: 100, width: 200 }, 12), 3);
});

test("a pointer clicks, and a finger swipes sideways", () => {
  const down = { clientX: 100, clientY: 100 };
  for (const [pointerType, x, y, gesture] of [
    ["mouse", 4, 4, "click"], ["mouse", 60, 0, null], ["touch", -60, 20, "forward"],
    ["touch", 60, 20, "back"], ["touch", 60, 40, null], ["touch", 40, 0, null], ["touch", 0, 0, "click"],
  ]) {
    const up = { pointerType, clientX: 100 + x, clientY: 100 + y };
    assert.equal(gestureOf(down, up), gesture, `${pointerType} by ${x}, ${y}`);
  }
});

test("one zooms from level to level, and not beyond the last", () => {
  assert.deepEqual(["grid", "block", "warp"].map((one) => levelBeside(one, 1)),
    ["block", "warp", "registers"]);
  assert.deepEqual([levelBeside("registers", 1), levelBeside("grid", -1)], [null, null]);
  assert.deepEqual(["registers", "warp", "banks"].map(nameOf), ["thread", "warp", "banks"]);
});

test("a wheel turns by one level, however far it goes at once", () => {
  const wheel = new Wheel();
  const turned = [[-3, 0], [-120, 100], [-120, 300], [120, 700], [0, 1200]].map(([by, at]) => (
    wheel.turned(by, at)
  ));
  assert.deepEqual(turned, [1, 0, 0, -1, 0]);
});

test("two fingers pinch, and one does not", () => {
  const pinch = new Pinch();
  const fingers = [{ clientX: 0, clientY: 0 }, { clientX: 30, clientY: 40 }];
  assert.deepEqual([apart(fingers), apart(fingers.slice(1))], [50, null]);
  const moved = [100, 120, 130, 150, 165, 100].map((distance) => pinch.moved(distance));
  assert.deepEqual(moved, [0, 0, 1, 0, 1, -1]);
  assert.deepEqual([null, 300].map((distance) => pinch.moved(distance)), [0, 0], "another begins");
});

// A page at an address, whose component notes what Python hears.
function visited(path) {
  globalThis.location = new URL(path, "http://a");
  globalThis.history = { replaceState: (_, __, href) => { globalThis.location = new URL(href); } };
  const heard = [];
  const player = { scene: { id: "s", order: 1, usual: 4, address: { M: "8" } }, step: 4, asked: null };
  const time = { now: 0 };
  const reports = new Reports(player, () => time.now);
  const note = (name, value) => heard.push([name, value.step ?? value]);
  reports.update({ setStateValue: note, setTriggerValue: note });
  return { heard, player, time, reports };
}

test("Python hears of a step after a pause, and at most once a second", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { heard, player, time, reports } = visited("/step?M=8");
  const pass = (ms) => {
    time.now += ms;
    t.mock.timers.tick(ms);
  };
  const move = (step) => {
    player.step = step;
    reports.moved();
  };
  move(5);
  pass(449);
  move(6);
  pass(449);
  assert.deepEqual(heard, []);
  pass(1);
  assert.deepEqual(heard, [["at", 6]]);
  assert.equal(location.search, "?M=8&step=7");
  move(4);
  pass(999);
  assert.equal(heard.length, 1);
  pass(1);
  assert.deepEqual(heard.at(-1), ["at", 4]);
  assert.equal(location.search, "?M=8", "the usual step is not in the address");
});

test("what is chosen comes after the step, and nothing once the page is left", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { heard, reports } = visited("/step?M=8");
  reports.moved();
  reports.choose("clock");
  assert.deepEqual(heard, [["at", 4], ["chosen", { name: "clock" }]]);
  location.pathname = "/learn";
  reports.moved();
  reports.choose("clock");
  t.mock.timers.tick(5000);
  assert.equal(heard.length, 2);
});

test("a link waits for a step that Python has just heard of, and one to another page leaves this", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { heard, time, reports } = visited("/step");
  let [clicks, held] = [0, 0];
  const link = { href: "http://a/learn", target: "", click: () => { clicks += 1; } };
  const event = {
    target: { closest: () => link }, preventDefault: () => { held += 1; }, stopImmediatePropagation() {},
  };
  reports.moved();
  reports.flush();
  reports.hold(event);
  t.mock.timers.tick(250);
  assert.deepEqual([held, clicks, reports.isLeft], [1, 1, false]);
  time.now += 250;
  reports.hold({ ...event, ctrlKey: true });
  assert.equal(reports.isLeft, false, "it opens elsewhere");
  reports.hold(event);
  assert.deepEqual([held, reports.isLeft], [1, true]);
  reports.choose("stage");
  assert.equal(heard.length, 1);
});

test("the address of a view whose scene is on its way keeps its own step", () => {
  const scene = { address: { M: "8" }, usual: 0 };
  assert.equal(addressAt("http://a/step?M=8&step=3", scene, 9), "http://a/step?M=8&step=10");
  assert.equal(addressAt("http://a/step?M=16&step=3", scene, 9), null);
  assert.equal(addressAt("http://a/step?M=8&kernel=naive", scene, 9), null);
});

test("a scene is zoomed on from the level that was asked for, until its picture is drawn", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const player = { level: "block" };
  const chosen = [];
  const zooming = new Zooming(player, (level) => chosen.push(level));
  zooming.by(1);
  zooming.by(1);
  zooming.by(1);
  zooming.drawn("block");
  zooming.by(-1);
  assert.deepEqual(chosen, ["warp", "registers", "warp"]);
  zooming.drawn("warp");
  zooming.by(-1);
  t.mock.timers.tick(3000);
  zooming.by(-1);
  assert.deepEqual(chosen.slice(3), ["grid", "grid"], "from the player's own level again");
});

test("a viewport is reported in whole units", () => {
  assert.deepEqual(inUnits(1279.5, 719, [40, 20]), { width: 1240, height: 700 });
});
