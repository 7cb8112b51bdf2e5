"""model.py on logs that were written and played by hand. A letter is a millisecond of: w work, d gone wrong, . waiting."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import model

MS = 1_000_000


def lane(*ops):
    """Lines of a log: (what, step, function, begin, end, peer...) in ms; what is work has all of its time as its amount."""
    return "".join(f"{what} 0 {step} {function} {begin * MS} {end * MS} {(end - begin) * MS if what == 'W' else 0} 0 "
                   f"{' '.join(str(x) for x in (list(peer) + [0] * 4)[:4])}\n" for what, step, function, begin, end, *peer in ops)


def logs(*ranks):
    with tempfile.TemporaryDirectory() as directory:
        for rank, text in enumerate(ranks):
            (pathlib.Path(directory) / f"log.{rank}").write_text(text, encoding="utf-8")
        return model.read(directory)


class Played(unittest.TestCase):
    # 0: wwwddd|ww|      two steps that end when both have come
    # 1: wwww..|ww|
    meeting = (lane(("B", 0, "-", 0, 0), ("W", 0, "f", 0, 3), ("D", 0, "f", 3, 6), ("M", 0, "-", 6, 6, 0, 2, 1, -1),
                    ("B", 1, "-", 6, 6), ("W", 1, "f", 6, 8), ("M", 1, "-", 8, 8, 0, 2, 1, -1)),
               lane(("B", 0, "-", 0, 0), ("W", 0, "f", 0, 4), ("M", 0, "-", 4, 6, 0, 2, 1, -1),
                    ("B", 1, "-", 6, 6), ("W", 1, "f", 6, 8), ("M", 1, "-", 8, 8, 0, 2, 1, -1)))

    # 0: pw......|w      prepares, gathers from all
    # 1: .w.....|.w      gathers for 2, so stays until it has come
    # 2: .wddddd|.w
    gathering = (lane(("M", 0, "-", 0, 0, 0, 3, 1, 0), ("W", 0, "f", 0, 2), ("M", 0, "-", 2, 7, 0, 3, 1, -2), ("W", 1, "f", 7, 8)),
                 lane(("M", 0, "-", 0, 0, 0, 3, 1, 0), ("W", 0, "f", 0, 2), ("M", 0, "-", 2, 7, 0, 3, 1, -2), ("W", 1, "f", 7, 12)),
                 lane(("M", 0, "-", 0, 0, 0, 3, 1, 0), ("W", 0, "f", 0, 2), ("D", 0, "f", 2, 7), ("M", 0, "-", 7, 7, 0, 3, 1, -2),
                      ("W", 1, "f", 7, 8)))

    def test_who_gathers_for_another_waits_for_it(self):
        run = logs(*self.gathering)
        self.assertEqual(model.play(run)[0], 12 * MS)
        self.assertEqual(model.play(run, model.planned(run))[0], 7 * MS)

    def test_what_else_held_up_work_that_was_stopped_is_beside_the_stop(self):
        # 0: ww....wwww|      4 of work, stopped from 2 to 6, 2 more without a core
        run = logs(lane(("B", 0, "-", 0, 0), ("W", 0, "f", 0, 10)))
        run[0, 0][1].nominal = 4 * MS
        stop = model.stopped(run, 0, 2 * MS, 6 * MS)
        beside = model.also_then(run, stop)
        self.assertEqual([x.pieces for x in beside], [[(8 * MS, 10 * MS)]])
        self.assertEqual(model.play(run, [stop])[0], 6 * MS)
        self.assertEqual(model.play(run, [stop] + beside)[0], 4 * MS)
        self.assertEqual(sum(model.excess(run, x) for x in [stop] + beside), 6 * MS)

    def test_work_that_was_held_up_no_longer_than_its_stop_has_nothing_beside_it(self):
        run = logs(lane(("B", 0, "-", 0, 0), ("W", 0, "f", 0, 10)))
        run[0, 0][1].nominal = 6 * MS
        self.assertEqual(model.also_then(run, model.stopped(run, 0, 5 * MS, 10 * MS)), [])

    def test_unchanged_is_the_run(self):
        self.assertEqual(model.play(logs(*self.meeting)), (8 * MS, {0: [0, 6 * MS, 8 * MS], 1: [0, 6 * MS, 8 * MS]}))

    def test_who_comes_last_at_a_meeting_pays_until_the_next_one_does(self):
        run = logs(*self.meeting)
        event = model.planned(run)
        self.assertEqual(model.excess(run, event[0]), 3 * MS)
        self.assertEqual(model.play(run, event), (6 * MS, {0: [0, 4 * MS, 6 * MS], 1: [0, 4 * MS, 6 * MS]}))

    def test_a_stop_while_it_waits_costs_what_is_left_when_the_message_has_come(self):
        # 0: wwwww s         sends at 5
        # 1: w......rr       receives from 1 on, until 8, though stopped from 2 to 7: 2 too late, and 1 of transfer
        run = logs(lane(("W", 0, "f", 0, 5), ("S", 0, "-", 5, 5, 1)),
                   lane(("W", 0, "f", 0, 1), ("R", 0, "-", 1, 8, 0)))
        stop = model.stopped(run, 1, 2 * MS, 7 * MS)
        self.assertEqual((stop.function, model.excess(run, stop)), ("-", 2 * MS))
        self.assertEqual(model.play(run, [stop])[0], 6 * MS)

    def test_a_stop_in_work_costs_what_the_work_was_longer(self):
        text = lane(("W", 0, "f", 0, 9)).replace(f" {9 * MS} 0 0", f" {5 * MS} 0 0")  # 5 of work
        run = logs(text)
        stop = model.stopped(run, 0, 2 * MS, 7 * MS)
        self.assertEqual((stop.function, model.excess(run, stop), model.play(run, [stop])[0]), ("f", 4 * MS, 5 * MS))

    def test_what_is_hidden_by_waiting_costs_nothing(self):
        # 0: dd ww s       a receiver that waits longer for another
        # 1: wwwwwwww s
        # 2: ........rr
        run = logs(lane(("D", 0, "f", 0, 2), ("W", 0, "f", 2, 4), ("S", 0, "-", 4, 4, 2)),
                   lane(("W", 0, "f", 0, 8), ("S", 0, "-", 8, 8, 2)),
                   lane(("R", 0, "-", 0, 10, 0), ("R", 0, "-", 0, 10, 1)))
        self.assertEqual(model.play(run)[0] - model.play(run, model.planned(run))[0], 0)

    def test_a_sum_that_goes_on_beside_work_waits_for_who_begins_it_last(self):
        # 0: dddwswwr      1: wsw..r    begun at 4 and 1, waited for from 6 and 2 on
        run = logs(lane(("D", 0, "f", 0, 3), ("W", 0, "f", 3, 4), ("S", 0, "-", 4, 4, -1), ("W", 0, "f", 4, 6), ("R", 0, "-", 6, 6, -1)),
                   lane(("W", 0, "f", 0, 1), ("S", 0, "-", 1, 1, -1), ("W", 0, "f", 1, 2), ("R", 0, "-", 2, 4, -1)))
        self.assertEqual(model.play(run)[1], {0: [6 * MS], 1: [4 * MS]})
        self.assertEqual(model.play(run, model.planned(run))[1], {0: [3 * MS], 1: [2 * MS]})

    def test_a_sum_that_goes_on_beside_work_may_wait_for_who_comes_back_to_it_last(self):
        # 0: dddwswwwr      1: wsw.....r    begun at 4 and 1; it goes on only once 0 waits, too, at 7
        run = logs(lane(("D", 0, "f", 0, 3), ("W", 0, "f", 3, 4), ("S", 0, "-", 4, 4, -1), ("W", 0, "f", 4, 7), ("R", 0, "-", 7, 7, -1)),
                   lane(("W", 0, "f", 0, 1), ("S", 0, "-", 1, 1, -1), ("W", 0, "f", 1, 2), ("R", 0, "-", 2, 7, -1)))
        self.assertEqual(model.play(run)[1], {0: [7 * MS], 1: [7 * MS]})
        self.assertEqual(model.play(run, model.planned(run))[1], {0: [4 * MS], 1: [4 * MS]})

    def test_what_goes_wrong_inside_of_a_meeting_is_taken_from_all_of_it(self):
        run = logs(lane(("W", 0, "f", 0, 2), ("D", 0, "collective", 3, 6), ("M", 0, "-", 2, 7, 0, 2, 1, -1)),
                   lane(("W", 0, "f", 0, 2), ("M", 0, "-", 2, 7, 0, 2, 1, -1)))
        self.assertEqual(model.play(run, model.planned(run))[0], 4 * MS)

    def test_a_broadcast_waits_for_its_root_and_a_reduction_for_all(self):
        def of(root):
            return logs(lane(("W", 0, "f", 0, 1), ("M", 0, "-", 1, 1 if root == 0 else 6, 0, 2, 1, root)),
                        lane(("D", 0, "f", 0, 5), ("W", 0, "f", 5, 6), ("M", 0, "-", 6, 6, 0, 2, 1, root)))
        self.assertEqual(model.play(of(0), model.planned(of(0)))[1], {0: [1 * MS], 1: [1 * MS]})
        self.assertEqual(model.play(of(-2), model.planned(of(-2)))[1], {0: [1 * MS], 1: [1 * MS]})
        self.assertEqual(model.play(of(-2))[1], {0: [6 * MS], 1: [6 * MS]})


if __name__ == "__main__":
    unittest.main()
