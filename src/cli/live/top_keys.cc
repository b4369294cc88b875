// SPDX-License-Identifier: Apache-2.0
// What keys do.
#define NCURSES_NOMACROS
#include <ncurses.h>

#include <algorithm>
#include <utility>

#include "cli/live/top_screen.h"

namespace clrscope::cli {
namespace {

using analysis::LiveBy;

constexpr int kEscape = 27;

// While a filter is typed.
void Type(int key, TopModel& m) {
  if (key == '\n' || key == KEY_ENTER) {
    m.filter = *m.typing;
    m.typing.reset();
  } else if (key == kEscape) {
    m.filter.clear();
    m.typing.reset();
  } else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
    if (!m.typing->empty()) m.typing->pop_back();
  } else if (key >= ' ' && key < 256) {
    *m.typing += static_cast<char>(key);
  }
  const bool was = std::exchange(m.paused, false);
  m.Refresh();
  m.paused = was;
}

void Move(int key, TopModel& m) {
  const int page = std::max(LINES - 8, 1);
  switch (key) {
    case 'j':
    case KEY_DOWN:
      m.Move(1);
      break;
    case 'k':
    case KEY_UP:
      m.Move(-1);
      break;
    case KEY_NPAGE:
      m.Move(page);
      break;
    case KEY_PPAGE:
      m.Move(-page);
      break;
    case KEY_HOME:
    case 'g':
      m.Move(-1'000'000);
      break;
    case KEY_END:
    case 'G':
      m.Move(1'000'000);
      break;
    default:
      break;
  }
}

// The view or the measure; false = the key is of neither.
bool Choose(int key, TopModel& m) {
  switch (key) {
    case '1':
      m.SetView(LiveBy::kType);
      return true;
    case '2':
      m.SetView(LiveBy::kSite);
      return true;
    case '3':
      m.SetView(LiveBy::kProcess);
      return true;
    case '4':
    case 't':
      m.SetView(LiveBy::kThread);
      return true;
    case '5':
    case 'r':
      m.ShowRequests();
      return true;
    case '\t':
      m.SetView(static_cast<LiveBy>((static_cast<unsigned>(m.by) + 1) % analysis::kLiveBys));
      return true;
    case 'a':
      m.SetMeasure(profile::Measure::kAllocations);
      return true;
    case 'e':
      m.SetMeasure(profile::Measure::kExceptions);
      return true;
    case 'l':
      m.SetMeasure(profile::Measure::kLocks);
      return true;
    case 'w': {  // whichever is recorded; both in turn
      const bool waits = m.Recorded(profile::Measure::kWaits);
      const bool wall = m.Recorded(profile::Measure::kWall) || !waits;
      m.SetMeasure(wall && (m.measure != profile::Measure::kWall || !waits)
                       ? profile::Measure::kWall
                       : profile::Measure::kWaits);
      return true;
    }
    case 'c':
      m.SetMeasure(profile::Measure::kCpu);
      return true;
    default:
      return false;
  }
}

void Press(int key, TopModel& m) {
  if (Choose(key, m)) return;
  switch (key) {
    case 's':
      m.CycleSort();
      break;
    case ' ':
    case 'p':
      m.paused = !m.paused;
      m.Refresh();
      break;
    case '/':
      m.typing = m.filter;
      break;
    case '?':
    case 'h':
    case KEY_F(1):
      m.help = true;
      break;
    case '\n':
    case KEY_ENTER:
    case KEY_RIGHT:
      m.Enter();
      break;
    case 'b':
      m.FlipTree();
      break;
    case kEscape:
    case KEY_LEFT:
      if (!m.Leave() && !m.filter.empty()) {
        m.filter.clear();
        m.Refresh();
      }
      break;
    default:  // KEY_RESIZE too: everything is drawn anew
      Move(key, m);
      break;
  }
}

}  // namespace

bool TopScreen::HandleKeys(TopModel& m) {
  for (int key = ::getch(); key != ERR; key = ::getch()) {
    note_.clear();
    if (m.help) {
      m.help = false;
      if (key == 'q') return false;
    } else if (m.typing) {
      Type(key, m);
    } else if (key == 'q') {
      return false;
    } else {
      Press(key, m);
    }
  }
  return true;
}

}  // namespace clrscope::cli
