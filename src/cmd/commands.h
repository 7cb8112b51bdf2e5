/* commands -- one function per subcommand: exit status 0 or 3, or a negative ERR_*. */
#ifndef SNAG_CMD_COMMANDS_H
#define SNAG_CMD_COMMANDS_H

#include "cmd/settings.h"

int cmd_ad(const struct settings *settings);
int cmd_what_if(const struct settings *settings);
int cmd_watch(const struct settings *settings);
int cmd_analyze(const struct settings *settings);
int cmd_compare(const struct settings *settings);
int cmd_evaluate(const struct settings *settings);
int cmd_export(const struct settings *settings);
int cmd_history(const struct settings *settings);
int cmd_info(const struct settings *settings);
int cmd_label(const struct settings *settings);
int cmd_list(const struct settings *settings);
int cmd_ranks(const struct settings *settings);
int cmd_model(const struct settings *settings);
int cmd_next(const struct settings *settings);
int cmd_project(const struct settings *settings);
int cmd_provdb(const struct settings *settings);
int cmd_ps(const struct settings *settings);
int cmd_query(const struct settings *settings);
int cmd_record(const struct settings *settings);
int cmd_report(const struct settings *settings);
int cmd_retrain(const struct settings *settings);
int cmd_score(const struct settings *settings);
int cmd_serve(const struct settings *settings);
int cmd_show(const struct settings *settings);
int cmd_sim(const struct settings *settings);

#endif
