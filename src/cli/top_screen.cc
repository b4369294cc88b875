// SPDX-License-Identifier: Apache-2.0
#include "cli/top_screen.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <locale.h>
#define NCURSES_NOMACROS
#include <ncurses.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "cli/humanize.h"
#include "cli/shorten.h"

namespace clrscope::cli {
namespace {

using analysis::LiveBy;
using profile::Estimate;

enum Pair : short { kGood = 1, kCaution, kAccent };
constexpr int kEscape = 27;
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

termios terminal_before;

// Leaves the alternate screen, shows the cursor, plain text, echo: all by two system calls.
void OnCrash(int signal) {
  constexpr char kReset[] = "\033[?1049l\033[?25h\033[0m\033[?1l\033>\r\n";
  (void)!::write(STDOUT_FILENO, kReset, sizeof(kReset) - 1);
  (void)::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  ::raise(signal);  // SA_RESETHAND: dies of it now
}

std::string Spark(const std::vector<double>& values, size_t width) {
  static constexpr const char* kBars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const size_t from = values.size() > width ? values.size() - width : 0;
  double most = 0;
  for (size_t i = from; i < values.size(); ++i) most = std::max(most, values[i]);
  std::string out;
  for (size_t i = from; i < values.size(); ++i) {
    const auto bar = static_cast<size_t>(most > 0 ? values[i] / most * 8 + 0.5 : 0);
    out += kBars[values[i] > 0 ? std::max<size_t>(bar, 1) : 0];
  }
  return out;
}

// Of a rate over the window, "±12 %"; "~" when the event has no known error.
std::string ErrorText(const Estimate& e, bool biased) {
  if (e.samples == 0) return "";
  if (biased) return "~";
  const profile::Interval i = profile::BytesInterval(e);
  const double half = std::max(e.bytes - i.low, i.high - e.bytes) / e.bytes;
  return half < 0.01 ? "±<1 %" : half < 9.995 ? fmt::format("±{:.0f} %", half * 100) : "±>10×";
}

std::string Clock(int64_t ns) { return HumanDuration(static_cast<double>(ns) / 1e9); }

std::string_view ViewTitle(LiveBy by) {
  return by == LiveBy::kType      ? "Type"
         : by == LiveBy::kSite    ? "Type ← allocated in"
         : by == LiveBy::kProcess ? "Process"
                                  : "Thread";
}

}  // namespace

TopScreen::TopScreen() {
  // Bars and names need UTF-8, whatever the environment says.
  ::setlocale(LC_ALL, "");
  if (::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0) ::setlocale(LC_CTYPE, "C.UTF-8");
  (void)::tcgetattr(STDIN_FILENO, &terminal_before);
  struct sigaction action = {};
  action.sa_handler = OnCrash;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : kFatal) ::sigaction(signal, &action, nullptr);
  ::set_escdelay(50);
  ::initscr();
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
  if (::has_colors() && ::getenv("NO_COLOR") == nullptr) {
    ::start_color();
    ::use_default_colors();
    ::init_pair(kGood, COLOR_GREEN, -1);
    ::init_pair(kCaution, COLOR_YELLOW, -1);
    ::init_pair(kAccent, COLOR_CYAN, -1);
  }
}

TopScreen::~TopScreen() {
  ::endwin();
  for (const int signal : kFatal) ::signal(signal, SIG_DFL);
}

void TopScreen::Suspend() { ::endwin(); }
void TopScreen::Resume() {
  ::refresh();
  ::clearok(stdscr, TRUE);
}

void TopScreen::Text(int y, int x, std::string_view text, int width) {
  if (width <= 0 || x >= COLS || y >= LINES) return;
  width = std::min(width, COLS - x);
  std::string shown = Printable(text);
  if (DisplayWidth(shown) > static_cast<size_t>(width))
    shown = ShortenMiddle(shown, static_cast<size_t>(width));
  ::mvaddstr(y, x, shown.c_str());
}

void TopScreen::Right(int y, int x, std::string_view text, int width) {
  const int blank = width - static_cast<int>(DisplayWidth(text));
  Text(y, x + std::max(blank, 0), text, width - std::max(blank, 0));
}

void TopScreen::DrawHead(const TopModel& m) {
  const capture::LiveView& view = m.view();
  const auto& processes = view.tables().processes();
  const auto alive =
      std::count_if(processes.begin(), processes.end(), [](const auto& p) { return !p.ended; });
  std::string who;
  if (processes.size() == 1) {
    who = fmt::format("{} ({}){}", view.tables().str(processes[0].name), processes[0].pid,
                      processes[0].ended ? " has ended" : "");
  } else {
    who = fmt::format("{} process{}{}", alive, alive == 1 ? "" : "es",
                      processes.size() > static_cast<size_t>(alive)
                          ? fmt::format(", {} ended", processes.size() - static_cast<size_t>(alive))
                          : "");
  }
  ::attron(A_BOLD);
  Text(0, 0, "clrscope top", 12);
  ::attroff(A_BOLD);
  Text(0, 14, who, COLS - 14 - 26);
  Right(0, COLS - 26, m.paused ? "PAUSED" : Clock(view.now_ns()), 26);

  const auto seconds = static_cast<double>(m.covered());
  const Estimate& w = m.window();
  const bool biased = std::any_of(view.processes().begin(), view.processes().end(),
                                  [](const auto& p) { return p.biased; });
  std::string line =
      fmt::format("Alloc  {}/s {}", HumanBytes(w.bytes / seconds), ErrorText(w, biased));
  if (view.tables().objects_known())
    line += fmt::format("   {} objects/s", HumanCount(w.objects / seconds));
  line += fmt::format("   total {}", HumanBytes(view.tables().everything().total.bytes));
  const int spark = std::max(0, std::min(20, COLS - 60));
  Text(1, 0, line, COLS - spark - 2);
  ::attron(COLOR_PAIR(kAccent));
  Right(1, COLS - spark, Spark(m.trend(), static_cast<size_t>(spark)), spark);
  ::attroff(COLOR_PAIR(kAccent));

  std::array<uint64_t, 3> collections{};
  uint64_t pauses = 0, dropped = 0;
  int64_t pause_ns = 0, heap[5] = {0, 0, 0, 0, 0};
  bool any_heap = false;
  for (const auto& p : view.processes()) {
    for (size_t i = 0; i < 3; ++i) collections[i] += p.collections[i];
    pauses += p.pauses;
    pause_ns += p.pause_ns;
    dropped += p.dropped;
    for (size_t i = 0; i < 5; ++i)
      if (p.last_gc.size_after[i] >= 0) {
        heap[i] += p.last_gc.size_after[i];
        any_heap = true;
      }
  }
  line = fmt::format("GC     gen0 {}  gen1 {}  gen2 {}", Thousands(collections[0]),
                     Thousands(collections[1]), Thousands(collections[2]));
  // What does not fit is left out, the least important first.
  const auto add = [&line](const std::string& part) {
    if (DisplayWidth(line) + 3 + DisplayWidth(part) <= static_cast<size_t>(COLS))
      line += "   " + part;
  };
  const auto bytes = [&heap](size_t i) { return HumanBytes(static_cast<double>(heap[i])); };
  if (dropped != 0) add(fmt::format("{} events dropped", Thousands(dropped)));
  if (pauses != 0)
    add(fmt::format("paused {}",
                    HumanShare(static_cast<double>(pause_ns),
                               static_cast<double>(std::max<int64_t>(view.now_ns(), 1)))));
  if (any_heap)
    add(fmt::format("heap {}", HumanBytes(static_cast<double>(heap[0] + heap[1] + heap[2] +
                                                              heap[3] + heap[4]))));
  if (any_heap) add(fmt::format("gen2 {}  LOH {}  POH {}", bytes(2), bytes(3), bytes(4)));
  Text(2, 0, line, COLS);

  static constexpr std::pair<LiveBy, const char*> kTabs[] = {{LiveBy::kType, "1 Types"},
                                                             {LiveBy::kSite, "2 Sites"},
                                                             {LiveBy::kProcess, "3 Processes"},
                                                             {LiveBy::kThread, "4 Threads"}};
  int x = 0;
  for (const auto& [by, title] : kTabs) {
    if (by == m.by) ::attron(A_BOLD | A_UNDERLINE);
    Text(4, x, title, 14);
    if (by == m.by) ::attroff(A_BOLD | A_UNDERLINE);
    x += static_cast<int>(::strlen(title)) + 2;
  }
  std::string state = fmt::format("sort: {}", TopSortName(m.sort));
  if (m.typing)
    state = fmt::format("/{}_", *m.typing);
  else if (!m.filter.empty())
    state += fmt::format("   filter: {}", m.filter);
  Right(4, x, state, COLS - x);
}

void TopScreen::DrawRows(const TopModel& m, int top, int height) {
  const bool wide = COLS >= 100;
  const int trend = wide ? 20 : 10;
  const int at_error = 11, at_objects = 18, at_share = 28, at_trend = 36;
  const int at_total = at_trend + trend + 1, at_name = at_total + 10;
  ::attron(A_REVERSE);
  ::mvhline(top, 0, ' ', COLS);
  Right(top, 0, "Bytes/s", 10);
  Text(top, at_error, "95 %", 6);
  Right(top, at_objects, "Objects/s", 9);
  Right(top, at_share, "Share", 7);
  Text(top, at_trend, wide ? "Last 20 s" : "Trend", trend);
  Right(top, at_total, "Total", 9);
  Text(top, at_name, ViewTitle(m.by), COLS - at_name);
  ::attroff(A_REVERSE);

  const auto visible = static_cast<size_t>(std::max(height - 1, 1));
  if (m.selected() < first_) first_ = m.selected();
  if (m.selected() >= first_ + visible) first_ = m.selected() - visible + 1;
  if (first_ >= m.rows().size()) first_ = 0;
  if (m.rows().empty())
    Text(top + 2, 2,
         !m.filter.empty() || m.typing    ? "nothing matches the filter"
         : m.view().processes().empty()   ? "no .NET process yet"
         : m.view().tables().second() < 3 ? "waiting for the first samples …"
                                          : "nothing was sampled: about one in 100 KB is",
         COLS - 2);
  const double whole = m.window().bytes;
  const auto seconds = static_cast<double>(m.covered());
  for (size_t i = first_; i < std::min(m.rows().size(), first_ + visible); ++i) {
    const TopRow& r = m.rows()[i];
    const int y = top + 1 + static_cast<int>(i - first_);
    const bool idle = r.window.samples == 0;
    const int style = static_cast<int>(i == m.selected() ? A_STANDOUT
                                       : idle || r.ended ? A_DIM
                                                         : A_NORMAL);
    ::attron(style);
    if (i == m.selected()) ::mvhline(y, 0, ' ', COLS);
    Right(y, 0, idle ? "0" : HumanBytes(r.window.bytes / seconds), 10);
    Text(y, at_error, ErrorText(r.window, r.biased), 6);
    if (m.view().tables().objects_known())
      Right(y, at_objects, idle ? "0" : HumanCount(r.window.objects / seconds), 9);
    Right(y, at_share, idle ? "" : HumanShare(r.window.bytes, whole), 7);
    Text(y, at_trend, Spark(r.trend, static_cast<size_t>(trend)), trend);
    Right(y, at_total, HumanBytes(r.total.bytes), 9);
    int x = at_name;
    int room = COLS - at_name;
    if (!r.process.empty() && room > 40) {
      Text(y, x, r.process, 18);
      x += 20;
      room -= 20;
    }
    if (r.method.empty()) {
      Text(y, x, ShortenName(r.name, static_cast<size_t>(std::max(room, 1))), room);
    } else {
      const int half = std::max(room * 2 / 5, 8);
      const std::string type = ShortenName(r.name, static_cast<size_t>(half));
      Text(y, x, type, half);
      const int used = static_cast<int>(DisplayWidth(type));
      Text(y, x + used, " ← ", 3);
      const int rest = room - used - 3;
      if (rest > 0) Text(y, x + used + 3, ShortenName(r.method, static_cast<size_t>(rest)), rest);
    }
    ::attroff(style);
  }
}

void TopScreen::DrawTree(const TopModel& m, int top, int height) {
  ::attron(A_REVERSE);
  ::mvhline(top, 0, ' ', COLS);
  Text(top, 0,
       fmt::format(" {} of {} since the start: {}", m.tree_bottom_up() ? "Callers" : "Call tree",
                   ShortenName(m.tree_title(), static_cast<size_t>(std::max(COLS - 50, 10))),
                   HumanBytes(m.tree_bytes())),
       COLS);
  ::attroff(A_REVERSE);
  const auto visible = static_cast<size_t>(std::max(height - 1, 1));
  const size_t first = m.selected() >= visible ? m.selected() - visible + 1 : 0;
  if (m.tree().empty()) Text(top + 2, 2, "its stacks are gone: the process has ended", COLS - 2);
  for (size_t i = first; i < std::min(m.tree().size(), first + visible); ++i) {
    const TopTreeLine& line = m.tree()[i];
    const int y = top + 1 + static_cast<int>(i - first);
    if (i == m.selected()) {
      ::attron(A_STANDOUT);
      ::mvhline(y, 0, ' ', COLS);
    }
    Right(y, 0, HumanBytes(line.value.bytes), 10);
    Right(y, 11, HumanShare(line.value.bytes, m.tree_bytes()), 7);
    const int x = 20 + std::min(static_cast<int>(line.depth), std::max(COLS - 60, 4));
    Text(y, x, line.can_open ? line.open ? "▾" : "▸" : " ", 1);
    Text(y, x + 2, ShortenName(line.name, static_cast<size_t>(std::max(COLS - x - 2, 8))),
         COLS - x - 2);
    ::attroff(A_STANDOUT);
  }
}

void TopScreen::DrawHelp(int top, int height) {
  static constexpr const char* kHelp[] = {
      "1 2 3 4  Tab   types, sites, processes, threads; t: threads",
      "↑ ↓  PgUp PgDn  Home End   move; j and k too",
      "Enter  →       the call stacks of a row; opens and closes a line there",
      "b              in the call stacks: callers, or the tree from the root",
      "Esc  ←         back",
      "s              sort by bytes/s, objects/s, total, name",
      "/              filter by a part of the name; Enter keeps it, Esc clears it",
      "Space  p       pause the screen; recording goes on",
      "q  Ctrl-C      quit",
      "",
      "Rates are of the last 5 seconds, estimated from samples; 95 % tells how far off they",
      "may be, ~ that it is unknown (AllocationTick). Totals are since the start.",
  };
  for (int i = 0; i < height && i < static_cast<int>(std::size(kHelp)); ++i)
    Text(top + i, 2, kHelp[i], COLS - 2);
}

void TopScreen::DrawFoot(const TopModel& m) {
  ::attron(A_DIM);
  if (!note_.empty() && !m.in_tree())
    Text(LINES - 1, 0, note_, COLS);
  else
    Text(LINES - 1, 0,
         m.help        ? "any key: back"
         : m.typing    ? "Enter keep  Esc clear"
         : m.in_tree() ? "Enter open/close  b callers/tree  Esc back  q quit"
                       : "? help  / filter  s sort  Space pause  Enter stacks  t threads  q quit",
         COLS);
  ::attroff(A_DIM);
}

void TopScreen::Draw(const TopModel& m) {
  ::erase();
  constexpr int kTop = 5;
  const int height = std::max(LINES - kTop - 1, 1);
  DrawHead(m);
  if (m.help)
    DrawHelp(kTop + 1, height - 1);
  else if (m.in_tree())
    DrawTree(m, kTop, height);
  else
    DrawRows(m, kTop, height);
  DrawFoot(m);
  ::refresh();
}

bool TopScreen::HandleKeys(TopModel& m) {
  for (int key = ::getch(); key != ERR; key = ::getch()) {
    note_.clear();
    if (m.help) {
      m.help = false;
      if (key == 'q') return false;
      continue;
    }
    if (m.typing) {
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
      continue;
    }
    const int page = std::max(LINES - 8, 1);
    switch (key) {
      case 'q':
        return false;
      case '1':
        m.SetView(LiveBy::kType);
        break;
      case '2':
        m.SetView(LiveBy::kSite);
        break;
      case '3':
        m.SetView(LiveBy::kProcess);
        break;
      case '4':
      case 't':
        m.SetView(LiveBy::kThread);
        break;
      case '\t':
        m.SetView(static_cast<LiveBy>((static_cast<unsigned>(m.by) + 1) % 4));
        break;
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
      default:
        break;  // KEY_RESIZE too: everything is drawn anew
    }
  }
  return true;
}

}  // namespace clrscope::cli
